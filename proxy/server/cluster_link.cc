#include "proxy/server/cluster_link.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/lease/failed_objects.h"
#include "proxy/pki/digest.h"

namespace sluice::server {

namespace {

/// Controllers of the same Gateways ask for the same Lease.
std::string leaseOf(const std::vector<std::string>& gateways) {
  constexpr std::size_t kDigits = 8;
  std::string name = "sluice-controller";
  if (gateways.empty()) return name;
  const std::set<std::string> sorted(gateways.begin(), gateways.end());
  std::string all;
  for (const std::string& each : sorted) all += each + "\n";
  return name + "-" + pki::toHex(pki::sha256(all)).substr(0, kDigits);
}

constexpr std::size_t kMostRefusedObjects = 20;
constexpr std::string_view kAllGateways = "sluice";  // the name of the group of replicas that serve all Gateways

/// Returns true if one replica of the Gateway must serve a new configuration before all others.
bool asksForCanary(const config::Model& model, const std::string& name) {
  for (const config::Gateway& each : model.all<config::Gateway>()) {
    if (each.meta.qualifiedName() != name) continue;
    const auto rollout = each.meta.annotations.find(std::string(config::Gateway::kRollout));
    if (rollout != each.meta.annotations.end() && rollout->second == config::Gateway::kCanary) return true;
  }
  return false;
}

std::string hostName() {
  std::array<char, 256> host{};
  static_cast<void>(::gethostname(host.data(), host.size() - 1));
  return host.data();
}

/// Returns a name that no other process has: that of the machine, and something random.
std::string identityOfProcess(std::uint64_t random) {
  return hostName() + "_" + pki::toHex(pki::sha256(std::to_string(random))).substr(0, 16);
}

}  // namespace

ClusterLink::ClusterLink(const KubernetesOptions& options, net::Worker& main, observe::MetricShard& metrics,
                         observe::Log& log)
    : options_(options),
      main_(main),
      connection_(accessOfProcess(options.kubeconfig), main, metrics, log),
      client_(connection_.api()),
      refusals_(main, std::max<std::uint64_t>(client_.random(), 1),
                [this](const std::string& digest) { tryAgain(digest); }),
      packer_(main) {}

std::unique_ptr<kubernetes::KubernetesSource> ClusterLink::makeSource(std::unique_ptr<control::Source> beside) {
  kubernetes::ClusterScope objects;
  objects.gateways = {options_.gateways.begin(), options_.gateways.end()};
  objects.withStatus = options_.controller;
  auto source = std::make_unique<kubernetes::KubernetesSource>(client_, main_, std::move(objects), std::move(beside));
  source_ = source.get();
  return source;
}

base::Status ClusterLink::open() {
  if (base::Status opened = client_.open(); !opened.ok()) return opened;
  config::PodKeeping keeping;
  keeping.controllerNamespace = options_.image.empty() ? options_.controllerNamespace : client_.access().nameSpace;
  keeping.severalGateways = options_.image.empty() && options_.gateways.size() != 1;
  if (!options_.classKeys.empty()) {
    const std::string& gateway = options_.gateways.front();
    keeping.classKeys = {gateway.substr(0, gateway.find('/')), options_.classKeys};
  }
  source_->setKeeping(std::move(keeping));
  return base::Done{};
}

void ClusterLink::report(control::Reloader& reloader, observe::EventRing& events, const Replica& replica) {
  reloader_ = &reloader;
  reloader.observe(*this);
  if (replica.servesTraffic) revisions_ = &reloader.revisions();
  outsideOfPods_ = base::toLower(hostName()) + "-" + std::to_string(replica.adminPort);
  const std::string identity = identityOfProcess(client_.random());
  events_.emplace(client_, source_->objects(), events,
                  kubernetes::EventPublisher::Instance{nameOfReplica(), options_.controller});
  if (revisions_ != nullptr) reporter_.emplace(client_, static_cast<kubernetes::ReplicaReporterUser&>(*this));
  // A replica of one Gateway keeps EgressRevisions.
  if (revisions_ != nullptr && options_.gateways.size() == 1) {
    source_->reviseObjects();
    recorder_.emplace(client_, source_->objects(),
                      kubernetes::RevisionRecorder::Names{options_.gateways.front(), nameOfReplica()},
                      static_cast<kubernetes::RevisionRecorderUser&>(*this));
    recorder_->start();
  }
  if (options_.controller) {
    controller_.emplace(client_, source_->objects(), *events_, reloader, reloader.revisions(),
                        kubernetes::Candidacy{client_.access().nameSpace, leaseOf(options_.gateways), identity},
                        options_.image);
    reloader.observe(*controller_);
    reloader.observe(controller_->statuses());
    controller_->start();
  }
}

void ClusterLink::onCompiled(const control::CompiledConfiguration& compiled) {
  compiledSerial_ = compiled.set.serial;
  const bool refused = revisions_ != nullptr && revisions_->state() != control::ConfigState::kInSync;
  refusedStatuses_ = refused ? compiled.compiled.statuses : config::StatusList();
  const bool rolledBack = revisions_ != nullptr && revisions_->state() == control::ConfigState::kRollback;
  noteFailed(rolledBack ? *reloader_->configuration() : compiled);
  if (recorder_) noteObjects(compiled);
  if (!reporter_) return;
  if (controller_) controller_->onOwnReport(makeReport());
  reporter_->changed();
}

void ClusterLink::onServing(const control::CompiledConfiguration& served) {
  noteFailed(served);
  if (reporter_) reporter_->changed();
}

void ClusterLink::noteFailed(const control::CompiledConfiguration& served) {
  kubernetes::FailedObjects all = kubernetes::failedObjectsOf(served.compiled.statuses);
  report_.failed = std::move(all.failed);
  report_.failedInAll = all.failedInAll;
  report_.listedInAll = all.listedInAll;
}

void ClusterLink::noteObjects(const control::CompiledConfiguration& compiled) {
  const auto objects = source_->revised(compiled.set.serial);
  if (objects == nullptr) return;
  report_.desiredObjects = objects->revision;
  const bool refused = revisions_->state() != control::ConfigState::kInSync;
  const bool held = revisions_->standing == control::Standing::kHeld;
  if (!refused && !held) {
    noteServed(objects->revision);
  } else if (report_.servedObjects.empty() && reloader_->configuration() != nullptr) {
    // This process has started from an earlier configuration.
    noteServed(kubernetes::revisionOfObjects(reloader_->configuration()->set));
  }
  if (refused) {
    noteRefused(objects->revision, compiled);
  } else {
    refusals_.clear();
  }
  report_.refusals = refusals_.count();
  report_.refusesObjects = refusals_.areFinal();
  recorder_->want({objects, asksForCanary(compiled.model, options_.gateways.front()), refused});
}

void ClusterLink::noteRefused(const std::string& revision, const control::CompiledConfiguration& compiled) {
  refusals_.note(revision, compiled.digest, compiled.model.settings.revisions.failures);
  std::erase_if(refusedObjects_, [&](const auto& each) { return each.first == revision; });
  refusedObjects_.emplace_back(revision, compiled.digest);
  if (refusedObjects_.size() > kMostRefusedObjects) refusedObjects_.pop_front();
}

/// A revision that this process has tainted is not tried again unless the taint is forgotten.
void ClusterLink::tryAgain(const std::string& digest) {
  reloader_->retry(digest, [this](bool cleared) {
    if (!cleared) reloader_->reload();
  });
}

void ClusterLink::noteServed(const std::string& revision) {
  if (std::exchange(report_.servedObjects, revision) == revision) return;
  report_.servedObjectsSince = kubernetes::apiMicroTime(main_.clock().wallNow());
}

bool ClusterLink::mayServe(const control::CompiledConfiguration& read) {
  if (!recorder_ || !asksForCanary(read.model, options_.gateways.front())) return true;
  const auto objects = source_->revised(read.set.serial);
  // Secrets and endpoints may change under the revision that is served already.
  if (objects == nullptr || objects->revision == report_.servedObjects) return true;
  return recorder_->mayServe(objects->revision);
}

void ClusterLink::onForgotten(const std::string& revision) {
  if (revision == report_.desiredObjects) refusals_.clear();
  for (const auto& [objects, digest] : refusedObjects_) {
    if (objects == revision) reloader_->retry(digest, [](bool) {});
  }
}

void ClusterLink::onEarlier(std::vector<kubernetes::EarlierRevision> newestFirst) {
  source_->offer(std::move(newestFirst));
  if (revisions_->state() == control::ConfigState::kRollbackFailed) reloader_->reload();
}

void ClusterLink::onPack(std::shared_ptr<const kubernetes::RevisedObjects> objects) {
  packer_.pack(std::move(objects), [this](std::string data) { recorder_->packed(std::move(data)); });
}

std::string ClusterLink::nameOfReplica() const {
  std::string pod = environmentVariable("POD_NAME");
  return pod.empty() ? outsideOfPods_ : pod;
}

kubernetes::ReplicaReport ClusterLink::makeReport() {
  report_.replica = nameOfReplica();
  // An owner that does not exist by that name would have the Lease deleted.
  report_.podUid = environmentVariable("POD_NAME").empty() ? "" : environmentVariable("POD_UID");
  report_.nameSpace = client_.access().nameSpace;
  report_.replicaOf = options_.gateways.size() == 1 ? options_.gateways.front() : std::string(kAllGateways);
  std::replace(report_.replicaOf.begin(), report_.replicaOf.end(), '/', '.');
  report_.gateway.clear();
  for (const std::string& each : options_.gateways) report_.gateway += (report_.gateway.empty() ? "" : ",") + each;
  report_.desired = revisions_->desired;
  report_.served = revisions_->served;
  report_.state = revisions_->state();
  const bool refused = report_.state != control::ConfigState::kInSync;
  const kubernetes::RefusedRevision why =
      refused ? kubernetes::refusedRevision(*revisions_, refusedStatuses_) : kubernetes::RefusedRevision();
  report_.problem = why.why;
  report_.problemNamespace = why.nameSpace;
  report_.problemOfClass = why.ofClass;
  // Changes after the last reading may be of statuses only, so the routes are seen if no newer set exists. A
  // configuration that was refused as a whole is not served.
  const bool served = revisions_->standing == control::Standing::kServed;
  if (served && source_->isNewest(compiledSerial_)) report_.seen = source_->objects().seenRoutes();
  return report_;
}

void ClusterLink::leave(std::function<void()> left) {
  const auto release = [this, left = std::move(left)] {
    if (!controller_) return main_.post(left);
    controller_->release([this, left] { main_.post(left); });
  };
  reporter_ ? reporter_->leave(release) : release();
}

}  // namespace sluice::server
