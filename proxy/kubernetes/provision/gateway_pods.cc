#include "proxy/kubernetes/provision/gateway_pods.h"

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "proxy/compile/gateways/pod_ports.h"
#include "proxy/content/json.h"

namespace sluice::kubernetes {
namespace {

constexpr std::int64_t kUser = 65532;  // of the image
constexpr std::int64_t kFirstHighPort = 1024;
constexpr std::int64_t kUsualReplicas = 2;
constexpr std::int64_t kSpareSeconds = 5;  // beyond those that a Pod may take to end
/// An autoscaler compares the CPU time that Pods use with the requested one.
constexpr std::pair<std::string_view, std::string_view> kUsualRequests[] = {{"cpu", "100m"}, {"memory", "128Mi"}};
constexpr std::string_view kStateVolume = "/var/lib/sluice";
/// The variables with fields of the Pod. The zone is known if the cluster gives its Pods this label of their nodes.
constexpr std::pair<std::string_view, std::string_view> kEnvironment[] = {
    {"POD_NAME", "metadata.name"},
    {"POD_UID", "metadata.uid"},
    {"SLUICE_ZONE", "metadata.labels['topology.kubernetes.io/zone']"}};
// The volume belongs to root, so the gateway makes a folder of its own in it that others cannot enter.
constexpr std::string_view kStateFolder = "/var/lib/sluice/state";

/// Writes the objects of one Gateway.
class PodWriter {
 public:
  explicit PodWriter(const GatewayToRun& run) : run_(run), name_(nameOfPods(run.gateway)) {
    for (const config::Listener& listener : run.gateway.listeners) {
      if (!compile::isTakenInPods(listener.port)) ports_.insert(listener.port);
    }
  }

  std::vector<ProvisionedObject> write() {
    add(provisioned::kServiceAccount, [](base::JsonWriter&) {});
    add(provisioned::kNetworkPolicy, [this](base::JsonWriter& json) { writeNetworkPolicy(json); });
    add(provisioned::kService, [this](base::JsonWriter& json) { writeService(json); });
    add(provisioned::kDisruptionBudget, [this](base::JsonWriter& json) { writeDisruptionBudget(json); });
    add(provisioned::kDeployment, [this](base::JsonWriter& json) { writeDeployment(json); });
    if (run_.parameters.autoscaling) {
      objects_.back().isCountedByOthers = true;
      add(provisioned::kAutoscaler, [this](base::JsonWriter& json) { writeAutoscaler(json); });
    }
    return std::move(objects_);
  }

 private:
  template <typename WriteRest>
  void add(const ProvisionedKind& kind, WriteRest&& writeRest) {
    const std::string& nameSpace = run_.gateway.meta.nameSpace;
    base::JsonWriter json = beginProvisioned(run_, kind, nameSpace, name_);
    writeRest(json);
    objects_.push_back(provisionedFor(run_, kind, nameSpace, name_, json.endObject().take()));
  }

  void writeSelector(base::JsonWriter& json, std::string_view key) const {
    json.key(key).beginObject().key("matchLabels");
    writeTextMap(json, selectorOf(run_.gateway));
    json.endObject();
  }

  /// Clients may reach the listeners, and the platform the health port. The gateway itself decides which destinations
  /// it may reach.
  void writeNetworkPolicy(base::JsonWriter& json) const {
    json.key("spec").beginObject();
    writeSelector(json, "podSelector");
    json.key("policyTypes").beginList().text("Ingress").endList();
    json.key("ingress").beginList().beginObject().key("ports").beginList();
    for (const std::int64_t port : ports_) writeAllowedPort(json, port);
    writeAllowedPort(json, compile::kHealthPort);
    json.endList().endObject().endList().endObject();
  }
  static void writeAllowedPort(base::JsonWriter& json, std::int64_t port) {
    json.beginObject().member("protocol", "TCP").member("port", port).endObject();
  }

  void writeService(base::JsonWriter& json) const {
    json.key("spec").beginObject().member("type", run_.parameters.serviceType).key("selector");
    writeTextMap(json, selectorOf(run_.gateway));
    json.key("ports").beginList();
    for (const std::int64_t port : ports_) {
      json.beginObject().member("name", "port-" + std::to_string(port)).member("protocol", "TCP");
      json.member("port", port).member("targetPort", port).endObject();
    }
    json.endList().endObject();
  }

  void writeDisruptionBudget(base::JsonWriter& json) const {
    json.key("spec").beginObject().member("maxUnavailable", 1);
    writeSelector(json, "selector");
    json.endObject();
  }

  void writeDeployment(base::JsonWriter& json) const {
    json.key("spec").beginObject();
    // If there is an autoscaler, it sets the number.
    if (!run_.parameters.autoscaling) json.member("replicas", run_.parameters.replicas.value_or(kUsualReplicas));
    writeSelector(json, "selector");
    json.key("strategy").beginObject().member("type", "RollingUpdate");
    json.key("rollingUpdate").beginObject().member("maxUnavailable", std::int64_t{0}).member("maxSurge", 1).endObject();
    json.endObject();
    json.key("template").beginObject().key("metadata").beginObject().key("labels");
    writeTextMap(json, labelsOf(run_.gateway));
    if (!run_.gateway.infrastructure.annotations.empty()) {
      json.key("annotations");
      writeTextMap(json, run_.gateway.infrastructure.annotations);
    }
    json.endObject();
    writePod(json);
    json.endObject().endObject();
  }

  void writePod(base::JsonWriter& json) const {
    json.key("spec").beginObject().member("serviceAccountName", name_);
    const auto drain = std::chrono::duration_cast<std::chrono::seconds>(run_.drainTimeout).count();
    json.member("terminationGracePeriodSeconds", drain + kSpareSeconds);
    json.key("securityContext").beginObject().key("runAsNonRoot").json("true");
    json.member("runAsUser", kUser).member("runAsGroup", kUser).member("fsGroup", kUser);
    json.key("seccompProfile").beginObject().member("type", "RuntimeDefault").endObject();
    if (!ports_.empty() && *ports_.begin() < kFirstHighPort) {
      json.key("sysctls").beginList().beginObject();
      json.member("name", "net.ipv4.ip_unprivileged_port_start").member("value", "0").endObject().endList();
    }
    json.endObject();
    json.key("topologySpreadConstraints").beginList().beginObject().member("maxSkew", 1);
    json.member("topologyKey", "kubernetes.io/hostname").member("whenUnsatisfiable", "ScheduleAnyway");
    writeSelector(json, "labelSelector");
    json.endObject().endList();
    writeGiven(json, "nodeSelector", run_.parameters.nodeSelector.unpacked());
    writeGiven(json, "tolerations", run_.parameters.tolerations.unpacked());
    writeGiven(json, "affinity", run_.parameters.affinity.unpacked());
    json.key("containers").beginList();
    writeContainer(json);
    json.endList().key("volumes").beginList().beginObject().member("name", "state");
    // The last good configuration has Secrets in it, which should not reach the node's disk.
    json.key("emptyDir").beginObject().member("medium", "Memory").member("sizeLimit", "64Mi").endObject();
    json.endObject().endList().endObject();
  }

  void writeContainer(base::JsonWriter& json) const {
    const std::string& image = run_.parameters.image.empty() ? run_.image : run_.parameters.image;
    json.beginObject().member("name", "sluice").member("image", image).key("args").beginList();
    for (const std::string_view each : {"run", "--kubernetes", "--gateway"}) json.text(each);
    json.text(run_.gateway.meta.qualifiedName()).text("--state-dir").text(kStateFolder);
    json.text("--controller-namespace").text(run_.controllerNamespace);
    if (!run_.classKeys.empty()) json.text("--class-keys").text(run_.classKeys);
    if (!run_.parameters.logLevel.empty()) json.text("--log-level").text(run_.parameters.logLevel);
    json.endList().key("env").beginList();
    for (const auto& [name, path] : kEnvironment) {
      json.beginObject().member("name", name).key("valueFrom").beginObject().key("fieldRef").beginObject();
      json.member("fieldPath", path).endObject().endObject().endObject();
    }
    json.endList().key("ports").beginList();
    for (const std::int64_t port : ports_) writeContainerPort(json, "port-" + std::to_string(port), port);
    writeContainerPort(json, "health", compile::kHealthPort);
    json.endList();
    writeProbe(json, "readinessProbe", "/readyz", 2);
    writeProbe(json, "livenessProbe", "/healthz", 10);
    writeResources(json);
    json.key("securityContext").beginObject().key("allowPrivilegeEscalation").json("false");
    json.key("readOnlyRootFilesystem").json("true");
    json.key("capabilities").beginObject().key("drop").beginList().text("ALL").endList().endObject().endObject();
    json.key("volumeMounts").beginList().beginObject().member("name", "state").member("mountPath", kStateVolume);
    json.endObject().endList().endObject();
  }

  /// Writes the given resources, and the usual request of each resource for which neither a request nor a limit is
  /// given: a limit is a request, too.
  void writeResources(base::JsonWriter& json) const {
    const content::Value given = run_.parameters.resources.unpacked();
    const content::Value* requests = given.find("requests");
    const content::Value* limits = given.find("limits");
    if (requests != nullptr && !requests->isMap())
      return writeGiven(json, "resources", given);  // the server refuses it
    const auto has = [](const content::Value* map, std::string_view name) {
      return map != nullptr && map->find(name) != nullptr;
    };
    json.key("resources").beginObject();
    for (const content::Member& each : given.members) {
      if (each.key != "requests") writeGiven(json, each.key, each.value);
    }
    json.key("requests").beginObject();
    if (requests != nullptr) {
      for (const content::Member& each : requests->members) writeGiven(json, each.key, each.value);
    }
    for (const auto& [name, amount] : kUsualRequests) {
      if (!has(requests, name) && !has(limits, name)) json.member(name, amount);
    }
    json.endObject().endObject();
  }

  static void writeContainerPort(base::JsonWriter& json, const std::string& name, std::int64_t port) {
    json.beginObject().member("name", name).member("containerPort", port).member("protocol", "TCP").endObject();
  }
  static void writeProbe(base::JsonWriter& json, std::string_view key, std::string_view path, std::int64_t period) {
    json.key(key).beginObject().key("httpGet").beginObject().member("path", path).member("port", compile::kHealthPort);
    json.endObject().member("periodSeconds", period).member("timeoutSeconds", 2).member("failureThreshold", 3);
    json.endObject();
  }
  static void writeGiven(base::JsonWriter& json, std::string_view key, const content::Value& value) {
    if (!value.isNull()) json.key(key).json(content::writeJson(value));
  }

  void writeAutoscaler(base::JsonWriter& json) const {
    const config::Autoscaling& autoscaling = *run_.parameters.autoscaling;
    json.key("spec").beginObject().key("scaleTargetRef").beginObject();
    json.member("apiVersion", provisioned::kDeployment.apiVersion()).member("kind", provisioned::kDeployment.kind);
    json.member("name", name_).endObject();
    json.member("minReplicas", autoscaling.minReplicas).member("maxReplicas", autoscaling.maxReplicas);
    json.key("metrics").beginList().beginObject().member("type", "Resource").key("resource").beginObject();
    json.member("name", "cpu").key("target").beginObject().member("type", "Utilization");
    json.member("averageUtilization", autoscaling.targetCpuUtilization);
    json.endObject().endObject().endObject().endList().endObject();
  }

  const GatewayToRun& run_;
  const std::string name_;
  std::set<std::int64_t> ports_;
  std::vector<ProvisionedObject> objects_;
};

}  // namespace

std::vector<ProvisionedObject> podsOf(const GatewayToRun& run) { return PodWriter(run).write(); }

}  // namespace sluice::kubernetes
