package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// forgetter deletes all objects that were not there when the server became
// ready, so that one test after another can use it. Definitions of custom
// resources stay. Objects go without finalizers, owners and grace.
type forgetter struct {
	etcd   *clientv3.Client
	config *rest.Config
	kept   map[string]bool
}

func newForgetter(ctx context.Context, at string, config *rest.Config) (*forgetter, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{at}})
	if err != nil {
		return nil, err
	}
	f := &forgetter{client, config, map[string]bool{}}
	keys, err := f.keys(ctx)
	for _, key := range keys {
		f.kept[key] = true
	}
	return f, err
}

// onSignal forgets whenever the process gets SIGUSR1, and prints a line then.
func (f *forgetter) onSignal(ctx context.Context) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			count, err := f.forget(ctx)
			if err != nil {
				klog.ErrorS(err, "objects are left")
				continue
			}
			fmt.Println("forgot", count)
		}
	}
}

func (f *forgetter) keys(ctx context.Context) ([]string, error) {
	found, err := f.etcd.Get(ctx, etcdPrefix+"/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, kv := range found.Kvs {
		keys = append(keys, string(kv.Key))
	}
	return keys, nil
}

func (f *forgetter) forget(ctx context.Context) (int, error) {
	keys, err := f.keys(ctx)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, key := range keys {
		if f.kept[key] || strings.Contains(key, "/customresourcedefinitions/") {
			continue
		}
		if _, err := f.etcd.Delete(ctx, key); err != nil {
			return count, err
		}
		count++
	}
	return count, f.readAll(ctx)
}

// readAll lists every resource: the answer to a list without a version waits
// until the server's own copy is as new as etcd.
func (f *forgetter) readAll(ctx context.Context) error {
	lists, err := discovery.NewDiscoveryClientForConfigOrDie(f.config).ServerPreferredResources()
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(f.config)
	if err != nil {
		return err
	}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list"}}, lists) {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return err
		}
		for _, r := range list.APIResources {
			if _, err := objects.Resource(gv.WithResource(r.Name)).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
				return err
			}
		}
	}
	return nil
}
