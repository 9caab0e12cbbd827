# Completion of kubectl-inplace for PowerShell: the program itself answers. kubectl-inplace completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'kubectl-inplace' -ScriptBlock {
    param($typed, $line, $position)
    $words = @($line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $position } | Select-Object -Skip 1 | ForEach-Object { "$_" })
    # Before 7.3 an empty argument is dropped unless it is quoted once more.
    $last = if ("$typed" -ne '') { "$typed" } elseif ($PSVersionTable.PSVersion -lt [version]'7.3') { '""' } else { '' }
    $program = $line.CommandElements[0].Value
    $answer = @(& $program __complete @words $last 2>$null)
    $answer | Select-Object -SkipLast 1 | ForEach-Object {
        $name, $help = $_ -split "`t", 2
        [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $(if ($help) { $help } else { $name }))
    }
}
