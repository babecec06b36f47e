// An admin page: it makes a document at once, or keeps the answer and gives it later. Main thread only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "proxy/base/byte_queue.h"
#include "proxy/http/codec.h"
#include "proxy/server/admin/live_feed.h"

namespace sluice::server {

/// The content of a document: a text, which all copies share; pieces that are made as the client takes them; or the
/// texts of a LiveFeed, the newest at a time. So a client that reads slowly, or never, keeps no more than one piece or
/// one text in memory.
class AdminBody {
 public:
  /// Appends the next piece; false if there is none.
  using Pieces = std::function<bool(std::string& out)>;
  using Text = std::shared_ptr<const std::string>;
  /// Says whether bytes follow those that were read.
  enum class BodyRest : std::uint8_t {
    kMore,
    kLater,  // more, but it is not there yet; the reader is woken for it
    kNone
  };

  AdminBody() : AdminBody(std::string()) {}
  // NOLINTBEGIN(google-explicit-constructor)
  AdminBody(const char* text) : AdminBody(std::string(text)) {}
  AdminBody(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
  AdminBody(Text text) : text_(std::move(text)) {}
  AdminBody(Pieces pieces) : pieces_(std::move(pieces)) {}
  AdminBody(std::shared_ptr<const LivePlace> place) : place_(std::move(place)) {}
  // NOLINTEND(google-explicit-constructor)

  /// Returns nothing if the length is not known before the end.
  std::optional<std::size_t> length() const;
  /// Moves the next bytes into `out` until that holds `most` bytes, or one piece more.
  BodyRest read(base::ByteQueue& out, std::size_t most);
  /// Returns the bytes of text that are kept for this copy; the size of a text that several copies share is divided
  /// equally.
  std::size_t held() const;

 private:
  /// Moves bytes of the text; returns false once all of them were moved.
  bool readText(base::ByteQueue& out, std::size_t most);
  BodyRest readLive(base::ByteQueue& out, std::size_t most);

  Text text_;  // nullptr if the document comes in pieces; of a feed, the text that is being read
  std::size_t taken_ = 0;
  Pieces pieces_;
  std::shared_ptr<const LivePlace> place_;
  std::uint64_t read_ = 0;  // the number of the last text of the feed
};

struct AdminDocument {
  std::uint16_t status = 200;
  std::string contentType = "application/json";
  AdminBody body = {};
};

/// Receives the answers. Implemented by AdminServer, and by tests.
class AdminClients {
 public:
  virtual ~AdminClients() = default;
  /// Does nothing if the client has left.
  virtual void answer(http::Token connection, http::StreamId stream, AdminDocument&& document) = 0;
  /// Called when a document that is not complete has more for the client; does nothing if that has left.
  virtual void wake(http::Token connection, http::StreamId stream) = 0;
};

/// The right to answer one request, once, inside a Turn. A late answer does nothing; if it is dropped, the request is
/// answered with 500, so that no client waits for ever. Never outlives the server that gave it.
class AdminAnswer {
 public:
  AdminAnswer(AdminClients& clients, http::Token connection, http::StreamId stream)
      : clients_(&clients), connection_(connection), stream_(stream) {}
  AdminAnswer(AdminAnswer&& other) noexcept
      : clients_(std::exchange(other.clients_, nullptr)), connection_(other.connection_), stream_(other.stream_) {}
  AdminAnswer& operator=(AdminAnswer&&) = delete;
  ~AdminAnswer() { give({500, "text/plain; charset=utf-8", "the page gave no answer\n"}); }

  void give(AdminDocument document) {
    if (AdminClients* clients = std::exchange(clients_, nullptr))
      clients->answer(connection_, stream_, std::move(document));
  }
  /// Returns a function that wakes the client once the answer was given. The server outlives it.
  std::function<void()> waker() const {
    return [clients = clients_, connection = connection_, stream = stream_] { clients->wake(connection, stream); };
  }

 private:
  AdminClients* clients_;  // nullptr once answered
  http::Token connection_;
  http::StreamId stream_;
};

/// A page is made of a function: one that returns the document, one that makes it from the query of the request, or one
/// that gets the AdminAnswer, with or without the query, and answers later.
class AdminPage {
 public:
  /// Makes a page that drops every answer.
  AdminPage() = default;
  template <typename Make>
  requires std::is_invocable_r_v<AdminDocument, Make&>
  // NOLINTNEXTLINE(google-explicit-constructor)
  AdminPage(Make make)
      : ask_([make = std::move(make)](AdminAnswer answer, std::string_view) mutable { answer.give(make()); }) {}
  template <typename Make>
  requires std::is_invocable_r_v<AdminDocument, Make&, std::string_view>
  // NOLINTNEXTLINE(google-explicit-constructor)
  AdminPage(Make make)
      : ask_([make = std::move(make)](AdminAnswer answer, std::string_view query) mutable {
          answer.give(make(query));
        }) {}
  template <std::invocable<AdminAnswer> Take>
  // NOLINTNEXTLINE(google-explicit-constructor)
  AdminPage(Take take)
      : ask_([take = std::move(take)](AdminAnswer answer, std::string_view) mutable { take(std::move(answer)); }) {}

  template <std::invocable<AdminAnswer, std::string_view> Take>
  // NOLINTNEXTLINE(google-explicit-constructor)
  AdminPage(Take take) : ask_(std::move(take)) {}

  /// `query` is the text after the "?", as it was sent.
  void ask(AdminAnswer answer, std::string_view query) const { ask_(std::move(answer), query); }

 private:
  std::function<void(AdminAnswer, std::string_view)> ask_ = [](AdminAnswer, std::string_view) {};
};

/// Maps a path to its page.
using AdminPages = std::map<std::string, AdminPage, std::less<>>;

/// The request by which a client asks for an action.
struct AdminPost {
  std::string query;  // the text after the "?", as it was sent
  std::string body;
};

/// An action is asked for by POST, or by another method that is neither GET nor HEAD.
struct AdminAction {
  using Run = std::function<void(AdminPost post, AdminAnswer answer)>;

  AdminAction() = default;
  template <std::invocable<AdminPost, AdminAnswer> Function>
  // NOLINTNEXTLINE(google-explicit-constructor)
  AdminAction(Function function, http::Method asks = http::Method::kPost) : run(std::move(function)), method(asks) {}

  Run run;
  http::Method method = http::Method::kPost;
};

/// Maps a path to its action. There may be a page of the same path.
using AdminActions = std::map<std::string, AdminAction, std::less<>>;

}  // namespace sluice::server
