// What an admin page is: a document made at once, or an answer that is kept and given later. Main thread only.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "proxy/http/codec.h"

namespace sluice::server {

struct AdminDocument {
  std::uint16_t status = 200;
  std::string contentType = "application/json";
  std::string body;
};

/// Where answers go. Implemented by AdminServer, and by tests.
class AdminClients {
 public:
  virtual ~AdminClients() = default;
  /// Nothing happens if the client has left.
  virtual void answer(http::Token connection, http::StreamId stream, AdminDocument&& document) = 0;
};

/// The right to answer one request, once, inside a Turn. Late it is inert; dropped it answers 500, so that nobody waits
/// for ever. Never outlives the server that gave it.
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

 private:
  AdminClients* clients_;  // nullptr: answered
  http::Token connection_;
  http::StreamId stream_;
};

/// Made of a function that returns the document, or of one that takes the answer and gives it when it can.
class AdminPage {
 public:
  /// Drops every answer.
  AdminPage() = default;
  template <typename Make>
  requires std::is_invocable_r_v<AdminDocument, Make&>
  // NOLINTNEXTLINE(google-explicit-constructor)
  AdminPage(Make make) : ask_([make = std::move(make)](AdminAnswer answer) mutable { answer.give(make()); }) {}
  template <std::invocable<AdminAnswer> Take>
  // NOLINTNEXTLINE(google-explicit-constructor)
  AdminPage(Take take) : ask_(std::move(take)) {}

  void ask(AdminAnswer answer) const { ask_(std::move(answer)); }

 private:
  std::function<void(AdminAnswer)> ask_ = [](AdminAnswer) {};
};

/// Path -> what answers it.
using AdminPages = std::map<std::string, AdminPage, std::less<>>;

}  // namespace sluice::server
