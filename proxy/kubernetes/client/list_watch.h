// A ListWatch follows the objects of one collection of an API server: it lists them, watches from where the list ended,
// resumes after each end of the watch, and lists again when the server cannot resume (410) or a gap is possible.
//
// It streams the initial list through the watch (sendInitialEvents) where the server can, and otherwise lists in pages.
// While the server fails it tries again with growing delays. A watch in which nothing arrives for kSilence, not even
// the bookmarks that come once a minute, is taken for dead. Its user gets the objects, keeps them, and knows after
// onListed() which of them are gone. Lives on the main thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/kubernetes/client/api_client.h"
#include "proxy/kubernetes/client/list_decoder.h"
#include "proxy/kubernetes/client/watch_decoder.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

/// The reason why a collection cannot be watched now.
enum class ListTrouble {
  kAbsent,      // the server does not have the resource
  kForbidden,   // the server does not permit it (403)
  kUnavailable  // the server does not answer, or answers with an error
};

class ListWatch;

/// Called on the main thread, inside a Turn. Each function only records: it neither destroys the ListWatch nor calls
/// it.
class ListWatchUser {
 public:
  /// A listing begins: objects that do not come before onListed() are gone. A listing may begin again before it has
  /// ended.
  virtual void onListing(ListWatch& from) = 0;
  virtual void onListed(ListWatch& from) = 0;
  /// An object of the listing, or one that was added or changed since.
  virtual void onObject(ListWatch& from, content::Value&& object) = 0;
  virtual void onDeleted(ListWatch& from, const content::Value& object) = 0;
  /// Called each time that an attempt fails, except for the first time that a watch breaks off. Unless it is kAbsent,
  /// another attempt follows by itself.
  virtual void onTrouble(ListWatch& from, ListTrouble trouble, const std::string& message) = 0;
  /// Called when an attempt succeeds after that.
  virtual void onRecovered(ListWatch& from) = 0;

 protected:
  ~ListWatchUser() = default;
};

/// The collection that is followed, and the options of its requests.
struct ApiCollection {
  std::string path;  // "/api/v1/namespaces/demo/secrets"
  /// "fieldSelector=metadata.name%3Dtoken", or empty.
  std::string selector = {};
  bool metadataOnly = false;  // only `metadata` is requested
  bool once = false;          // it is listed, and not watched
};

class ListWatch final : private ApiCallUser, private net::Timer {
 public:
  static constexpr base::Duration kSilence = std::chrono::seconds(90);
  /// The longest time without an object while a list is streamed; after that it is requested in pages. A server that
  /// has not read the kind itself yet may send nothing at all.
  static constexpr base::Duration kStreamPatience = std::chrono::seconds(10);
  static constexpr base::Duration kFirstDelay = std::chrono::milliseconds(250);
  static constexpr base::Duration kLongestDelay = std::chrono::seconds(30);
  static constexpr int kPageSize = 250;

  /// Both outlive it.
  ListWatch(ApiClient& client, ListWatchUser& user, ApiCollection collection);

  const ApiCollection& collection() const { return collection_; }
  /// Returns the resourceVersion up to which all changes were seen; empty if that is not known.
  const std::string& resourceVersion() const { return resourceVersion_; }
  /// Begins to list, and lists again if it is called again: for users who now want objects that they have ignored.
  /// Changes that were seen meanwhile stay valid.
  void list();

 private:
  enum class Phase { kIdle, kListing, kStreaming, kWatching };

  void listPage(std::string_view continueToken);
  void stream();
  void watch();
  void call(const std::string& query, base::Duration idle);
  void listAnew();
  base::Duration delayNow() const;
  void startTimer(base::Duration delay);
  void awaitStream();
  void failed(ListTrouble trouble, const std::string& message);
  void refused();
  void takeItems(std::string_view bytes);
  void takeEvents(std::string_view bytes);
  bool takeEvent(WatchEvent&& event);
  bool takeBookmark(const content::Value& object);
  void endPage();
  void listed();

  void onApiResponse(int status, base::Duration retryAfter) override;
  void onApiBody(std::string_view bytes) override;
  void onApiEnd() override;
  void onApiFailed(const base::Error& error) override;
  void onTimer() override;

  ApiClient& client_;
  ListWatchUser& user_;
  const ApiCollection collection_;
  Phase phase_ = Phase::kIdle;
  std::unique_ptr<ApiCall> call_;
  ListDecoder decoder_;
  WatchDecoder events_;
  int status_ = 0;
  base::Duration retryAfter_{};
  std::string resourceVersion_;   // up to which all changes were seen; empty until the first list has ended
  base::MonotonicTime called_{};  // when the last request was made
  base::MonotonicTime listed_{};  // when the last list was complete
  bool streams_ = true;           // the server may stream the initial list
  bool troubled_ = false;         // the user was notified of trouble
  unsigned failures_ = 0;         // in a row
};

/// Returns the text of a member of `object.metadata`; empty if there is none.
std::string_view metadataText(const content::Value& object, std::string_view key);

}  // namespace sluice::kubernetes
