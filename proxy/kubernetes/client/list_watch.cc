#include "proxy/kubernetes/client/list_watch.h"

#include <algorithm>
#include <utility>

#include "proxy/kubernetes/client/api_path.h"
#include "proxy/processing/query_edit.h"

namespace sluice::kubernetes {
namespace {

constexpr int kOk = 200;
constexpr int kBadRequest = 400;
constexpr int kForbiddenStatus = 403;
constexpr int kNotFound = 404;
constexpr int kGone = 410;
constexpr int kUnprocessable = 422;
constexpr std::uint64_t kShortestWatch = 300;  // seconds; the server ends it after up to twice as many
constexpr base::Duration kListIdle = std::chrono::seconds(30);
constexpr unsigned kFailuresUntilList = 3;  // then the watch's version may be one that the server never had
/// If the server ends a watch earlier, or a list is outdated earlier, there is a pause before the next one.
constexpr base::Duration kShortWhile = std::chrono::seconds(1);
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

std::string_view memberTextOf(const content::Value& value, std::string_view key) {
  const content::Value* member = value.find(key);
  return member == nullptr ? std::string_view() : std::string_view(member->text);
}

std::string messageOf(const content::Value& status) {
  const std::string_view message = memberTextOf(status, "message");
  return std::string(message.empty() ? "no message" : message);
}

ListTrouble troubleOf(int status) {
  if (status == kNotFound) return ListTrouble::kAbsent;
  return status == kForbiddenStatus ? ListTrouble::kForbidden : ListTrouble::kUnavailable;
}

}  // namespace

std::string_view metadataText(const content::Value& object, std::string_view key) {
  const content::Value* metadata = object.find("metadata");
  return metadata == nullptr ? std::string_view() : memberTextOf(*metadata, key);
}

ListWatch::ListWatch(ApiClient& client, ListWatchUser& user, ApiCollection collection)
    : client_(client), user_(user), collection_(std::move(collection)) {}

// --- requests --------------------------------------------------------------------------------------------------------

void ListWatch::list() {
  cancel();
  streams_ && !collection_.once ? stream() : listPage({});
}

void ListWatch::listPage(std::string_view continueToken) {
  phase_ = Phase::kListing;
  resourceVersion_.clear();  // an attempt that fails is followed by a list, not by a watch
  std::string query = "limit=" + std::to_string(kPageSize);
  if (!continueToken.empty()) query += "&continue=" + processing::encodeQuery(continueToken);
  call(query, kListIdle);
  if (continueToken.empty()) user_.onListing(*this);
}

void ListWatch::stream() {
  phase_ = Phase::kStreaming;
  resourceVersion_.clear();
  call("watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=" +
           std::to_string(kShortestWatch + client_.random() % kShortestWatch),
       kSilence);
  awaitStream();
  user_.onListing(*this);
}

void ListWatch::awaitStream() { client_.worker().timers().set(*this, client_.worker().now() + kStreamPatience); }

void ListWatch::watch() {
  phase_ = Phase::kWatching;
  call("watch=true&allowWatchBookmarks=true&resourceVersion=" + resourceVersion_ +
           "&timeoutSeconds=" + std::to_string(kShortestWatch + client_.random() % kShortestWatch),
       kSilence);
}

void ListWatch::call(const std::string& query, base::Duration idle) {
  decoder_ = {};
  events_ = {};
  status_ = 0;
  retryAfter_ = {};
  called_ = client_.worker().now();
  ApiRequest request;
  request.path = collection_.path + "?" + query;
  if (!collection_.selector.empty()) request.path += "&" + collection_.selector;
  if (collection_.metadataOnly) {
    const std::string_view form = phase_ == Phase::kListing ? "PartialObjectMetadataList" : "PartialObjectMetadata";
    request.accept = "application/json;as=" + std::string(form) + ";g=meta.k8s.io;v=v1,application/json";
  }
  request.idle = idle;
  call_ = std::make_unique<ApiCall>(client_, request, static_cast<ApiCallUser&>(*this));
}

void ListWatch::onTimer() {
  if (phase_ == Phase::kStreaming && call_ != nullptr) {
    call_.reset();
    streams_ = false;
    return list();
  }
  const bool again = resourceVersion_.empty() || failures_ >= kFailuresUntilList;
  again ? list() : watch();
}

/// Lists after a gap: at once, unless the last gap was so recent that this could become a busy loop.
void ListWatch::listAnew() {
  resourceVersion_.clear();
  const bool soon = failures_++ > 0 || client_.worker().now() < listed_ + kShortWhile;
  startTimer(soon ? delayNow() : base::Duration::zero());
}

base::Duration ListWatch::delayNow() const {
  return std::min(kFirstDelay * (1U << std::min(failures_, 10U)), kLongestDelay);
}

void ListWatch::startTimer(base::Duration delay) {
  call_.reset();
  // Up to one and a half times as long, so that replicas do not come back together.
  delay += std::chrono::nanoseconds(client_.random() % static_cast<std::uint64_t>(delay.count() / 2 + 1));
  client_.worker().timers().set(*this, client_.worker().now() + delay);
}

void ListWatch::failed(ListTrouble trouble, const std::string& message) {
  cancel();
  call_.reset();
  if (trouble == ListTrouble::kAbsent) {
    phase_ = Phase::kIdle;
    resourceVersion_.clear();
  } else {
    // Watches break off every now and then, so only the failure of the next attempt is reported.
    const bool watched = phase_ == Phase::kWatching && status_ == kOk;
    if (watched && client_.worker().now() >= called_ + kShortWhile) failures_ = 0;
    const bool brokeOff = watched && failures_ == 0;
    startTimer(std::max(delayNow(), retryAfter_));
    ++failures_;
    if (brokeOff) return;
  }
  troubled_ = true;
  user_.onTrouble(*this, trouble, message);
}

// --- answers ---------------------------------------------------------------------------------------------------------

void ListWatch::onApiResponse(int status, base::Duration retryAfter) {
  status_ = status;
  retryAfter_ = retryAfter;
  if (status == kOk && std::exchange(troubled_, false)) user_.onRecovered(*this);
}

void ListWatch::onApiBody(std::string_view bytes) {
  const bool isWatch = status_ == kOk && phase_ != Phase::kListing;
  isWatch ? takeEvents(bytes) : takeItems(bytes);
}

void ListWatch::takeItems(std::string_view bytes) {
  for (;;) {
    base::Result<std::optional<content::Value>> item = decoder_.next(bytes);
    if (!item.ok()) return failed(ListTrouble::kUnavailable, item.error().detail);
    if (!item->has_value()) return;
    user_.onObject(*this, *std::move(*item));
  }
}

void ListWatch::takeEvents(std::string_view bytes) {
  for (;;) {
    base::Result<std::optional<WatchEvent>> event = events_.next(bytes);
    if (!event.ok()) return failed(ListTrouble::kUnavailable, event.error().detail);
    if (!event->has_value() || !takeEvent(*std::move(*event))) return;
  }
}

void ListWatch::onApiEnd() {
  if (status_ != kOk) return refused();
  if (phase_ == Phase::kListing) return endPage();
  if (phase_ == Phase::kStreaming) {
    streams_ = failures_ < kFailuresUntilList;
    return failed(ListTrouble::kUnavailable, "the server has ended the list before it was complete");
  }
  // The server ends each watch after a while. If it ends one too early, it may do so again and again.
  if (client_.worker().now() >= called_ + kShortWhile) return watch();
  startTimer(delayNow());
  ++failures_;
}

void ListWatch::onApiFailed(const base::Error& error) { failed(ListTrouble::kUnavailable, error.detail); }

/// Called with the whole answer of a request that the server has refused.
void ListWatch::refused() {
  const base::Result<content::Value> body = decoder_.rest();
  const std::string message =
      "HTTP status " + std::to_string(status_) + ": " + (body.ok() ? messageOf(*body) : "no JSON");
  if (phase_ == Phase::kStreaming && (status_ == kBadRequest || status_ == kUnprocessable)) {
    streams_ = false;
    return list();
  }
  // The refusal of a list gives a better reason than that of a watch.
  if (status_ == kGone || (phase_ == Phase::kWatching && status_ == kNotFound)) return listAnew();
  failed(troubleOf(status_), message);
}

void ListWatch::endPage() {
  const base::Result<content::Value> rest = decoder_.rest();
  if (!rest.ok()) return failed(ListTrouble::kUnavailable, rest.error().detail);
  if (const std::string_view token = metadataText(*rest, "continue"); !token.empty()) {
    return listPage(std::string(token));
  }
  const std::string_view version = metadataText(*rest, "resourceVersion");
  if (version.empty()) return failed(ListTrouble::kUnavailable, "a list has no resourceVersion");
  resourceVersion_ = version;
  call_.reset();
  phase_ = Phase::kIdle;
  if (!collection_.once) watch();
  listed();
}

void ListWatch::listed() {
  failures_ = 0;
  listed_ = client_.worker().now();
  user_.onListed(*this);
}

/// Returns false if no event of this watch is to follow.
bool ListWatch::takeEvent(WatchEvent&& event) {
  if (event.type == WatchEventType::kError) {
    const std::string_view code = memberTextOf(event.object, "code");
    if (code == "410") {
      listAnew();
    } else {
      failed(ListTrouble::kUnavailable, "the watch has failed: " + messageOf(event.object));
    }
    return false;
  }
  if (phase_ == Phase::kWatching) {
    failures_ = 0;
    resourceVersion_ = metadataText(event.object, "resourceVersion");
  } else {
    awaitStream();
  }
  switch (event.type) {
    case WatchEventType::kAdded:
    case WatchEventType::kModified:
      user_.onObject(*this, std::move(event.object));
      return true;
    case WatchEventType::kDeleted:
      user_.onDeleted(*this, event.object);
      return true;
    case WatchEventType::kBookmark:
      return takeBookmark(event.object);
    case WatchEventType::kError:
      break;
  }
  return true;
}

bool ListWatch::takeBookmark(const content::Value& object) {
  if (phase_ != Phase::kStreaming) return true;
  const content::Value* metadata = object.find("metadata");
  const content::Value* annotations = metadata == nullptr ? nullptr : metadata->find("annotations");
  if (annotations == nullptr || memberTextOf(*annotations, kInitialEventsEnd) != "true") return true;
  resourceVersion_ = metadataText(object, "resourceVersion");
  phase_ = Phase::kWatching;
  cancel();
  listed();
  return true;
}

}  // namespace sluice::kubernetes
