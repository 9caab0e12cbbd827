#!/bin/bash
case $2 in GOVERSION) echo go1.9;; esac
