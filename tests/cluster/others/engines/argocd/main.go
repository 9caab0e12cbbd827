// Syncs the manifests on its standard input, once, as Argo CD's controller does with its engine: every step makes a new sync
// context from what the last one has left (SyncAppState in controller/sync.go of argo-cd v3.5.1).
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const trackingID = "argocd.argoproj.io/tracking-id"

var (
	application = flag.String("application", "web", "name of the application")
	namespace   = flag.String("n", "default", "namespace that it is deployed to")
	serverSide  = flag.Bool("server-side", false, "sync with ServerSideApply=true")
	timeout     = flag.Duration("timeout", 5*time.Minute, "how long the sync may take")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 500, 1000
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	live := cache.NewClusterCache(config, cache.SetNamespaces([]string{*namespace}), cache.SetLogr(logr.Discard()),
		cache.SetPopulateResourceInfoHandler(func(object *unstructured.Unstructured, _ bool) (any, bool) {
			// A ReplicaSet has its Deployment's annotations.
			isOwn := object.GetAnnotations()[trackingID] == idOf(object)
			return isOwn, isOwn
		}))
	if err := live.EnsureSynced(); err != nil {
		return err
	}
	defer live.Invalidate()
	revision := fmt.Sprintf("%x", sha256.Sum256(text))
	state := state{phase: common.OperationRunning, started: metav1.Now()}
	for end := time.Now().Add(*timeout); !state.phase.Completed(); time.Sleep(500 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("no end of the sync: %s", state.message)
		}
		target, err := targets(text, live)
		if err != nil {
			return err
		}
		if err := state.step(target, live, config, revision); err != nil {
			return err
		}
	}
	for _, result := range state.results {
		fmt.Println(result.ResourceKey.String(), result.Status, result.HookPhase, result.Message)
	}
	if !state.phase.Successful() {
		return errors.New(state.message)
	}
	return nil
}

// The application's objects, in its namespace, each marked as its own.
func targets(text []byte, live cache.ClusterCache) ([]*unstructured.Unstructured, error) {
	objects, err := kube.SplitYAML(text)
	for _, object := range objects {
		if namespaced, err := live.IsNamespaced(object.GroupVersionKind().GroupKind()); err == nil && namespaced {
			object.SetNamespace(*namespace)
		}
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[trackingID] = idOf(object)
		object.SetAnnotations(annotations)
	}
	return objects, err
}

func idOf(object *unstructured.Unstructured) string {
	group := object.GroupVersionKind().Group
	return fmt.Sprintf("%s:%s/%s:%s/%s", *application, group, object.GetKind(), *namespace, object.GetName())
}

// What Argo CD keeps of an operation.
type state struct {
	phase   common.OperationPhase
	message string
	results []common.ResourceSyncResult
	started metav1.Time
	begun   bool
}

func (s *state) step(target []*unstructured.Unstructured, live cache.ClusterCache, config *rest.Config, revision string) error {
	isManaged := func(resource *cache.Resource) bool { return resource.Info == true }
	managed, err := live.GetManagedLiveObjs(target, isManaged)
	if err != nil {
		return err
	}
	objects := sync.Reconcile(target, managed, *namespace, live)
	if !s.begun {
		// Automated sync begins only where something is out of sync.
		diffs, err := diff.DiffArray(objects.Target, objects.Live, diff.WithLogr(logr.Discard()))
		if err != nil {
			return err
		}
		if !diffs.Modified {
			s.phase, s.message = common.OperationSucceeded, "in sync"
			fmt.Println(s.message)
			return nil
		}
		s.begun = true
	}
	context, cleanup, err := sync.NewSyncContext(revision, objects, config, config, &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}, *namespace,
		sync.WithLogr(logr.Discard()),
		sync.WithOperationSettings(false, false, false, false),
		sync.WithInitialState(s.phase, s.message, s.results, s.started),
		sync.WithManifestValidation(true),
		sync.WithServerSideApply(*serverSide),
		sync.WithServerSideApplyManager("argocd-controller"))
	if err != nil {
		return err
	}
	defer cleanup()
	context.Sync()
	s.phase, s.message, s.results = context.GetState()
	return nil
}
