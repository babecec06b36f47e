#include "proxy/kubernetes/revisions/earlier_revisions.h"

#include <string>

#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/processing/query_edit.h"

namespace sluice::kubernetes {
namespace {

base::Error cannotBeRead(const EarlierRevision& revision, const std::string& why) {
  return base::Error::config("EgressRevision " + revision.name + " cannot be read: " + why);
}

/// Returns the revision that was asked for. The answer is a list, because replicas may list and need not be able to
/// get.
base::Result<EarlierRevisions::Fetched> fetchedFrom(const ApiAnswer& answer, const EarlierRevision& asked) {
  if (!answer.ok()) return cannotBeRead(asked, answer.fault());
  const content::Value* items = itemsOf(answer.body);
  if (items == nullptr) return cannotBeRead(asked, "the list cannot be read");
  PinnedRevision pinned{asked.name, asked.revision, {}};
  for (const content::Value& each : items->items) {
    // It may have been tainted or replaced since it was counted.
    const auto read = readEgressRevision(each, /*withData=*/false);
    if (read && read->name == asked.name && read->revision == asked.revision && read->isGood())
      pinned.data = textIn(valueIn(&each, "spec"), "data");
  }
  return std::make_shared<const PinnedRevision>(std::move(pinned));
}

}  // namespace

// --- main thread -----------------------------------------------------------------------------------------------------

void EarlierRevisions::offer(std::vector<EarlierRevision> newestFirst) {
  const std::lock_guard lock(mutex_);
  offered_ = std::move(newestFirst);
}

void EarlierRevisions::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  news_.notify_one();
}

void EarlierRevisions::send(std::uint64_t question, const EarlierRevision& asked) {
  ApiRequest request;
  request.path =
      egressRevisionsPath(asked.nameSpace) + "?fieldSelector=" + processing::encodeQuery("metadata.name=" + asked.name);
  exchange_ = std::make_unique<ApiExchange>(client_, request, [this, question, asked](base::Result<ApiAnswer>&& got) {
    answer(question, got ? fetchedFrom(*got, asked) : cannotBeRead(asked, got.error().detail));
  });
}

void EarlierRevisions::answer(std::uint64_t question, base::Result<Fetched> fetched) {
  {
    const std::lock_guard lock(mutex_);
    answer_.emplace(question, std::move(fetched));
  }
  news_.notify_one();
}

// --- loading thread --------------------------------------------------------------------------------------------------

std::size_t EarlierRevisions::count() {
  const std::lock_guard lock(mutex_);
  counted_ = offered_;
  return counted_.size();
}

base::Result<EarlierRevisions::Fetched> EarlierRevisions::fetch(std::size_t which, base::MonotonicTime until) {
  const EarlierRevision& asked = counted_.at(which);
  const std::uint64_t question = ++question_;
  main_.post([this, question, asked] { send(question, asked); });
  std::unique_lock lock(mutex_);
  const auto isAnswered = [&] { return closed_ || (answer_ && answer_->first == question); };
  const bool came = news_.wait_until(lock, until, isAnswered) && !closed_;
  if (!came) return cannotBeRead(asked, "the API server does not answer");
  return std::exchange(answer_, std::nullopt)->second;
}

}  // namespace sluice::kubernetes
