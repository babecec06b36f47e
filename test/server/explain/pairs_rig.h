// Sends requests to the data plane, in memory, one after the other, and keeps the records of each: the access log, the
// steps that ran, the request at the origin and the client's response.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/control/explain/explained_request.h"
#include "test/support/exchange_rig.h"

namespace sluice::test {

/// The facts about one request.
struct RecordedPair {
  std::string status;  // in the access log
  std::string gateway;
  std::string listener;
  std::string route;
  std::string backend;
  std::string errorType;
  std::vector<std::string> steps;         // in the order in which they ran
  bool reached = false;                   // an origin saw the request
  std::vector<std::string> requestTrail;  // the marks of filters, as the origin saw them
  std::string authority;                  // as the origin saw it
  std::string path;
  std::string answered;  // the client's response
};

class PairsRig {
 public:
  PairsRig(const routing::Snapshot& snapshot, int backends)
      : rig_({.accessLog = log_.get(), .table = routing::routesOf(snapshot.binds.at(0).service)}) {
    for (int i = 0; i < backends; ++i)
      rig_.resolver.know("b" + std::to_string(i) + ".test", {"192.0.2." + std::to_string(10 + i)});
  }
  ~PairsRig() { std::fclose(file_); }

  RecordedPair ask(const control::RequestInQuestion& asked) {
    rig_.steps.clear();
    RecordedPair pair;
    const control::UrlInQuestion url = *control::readUrl(asked.url);
    asked.headers == kCall ? call(url.target, pair) : askHttp1(asked, url, pair);
    pair.steps = rig_.steps;
    readLog(pair);
    return pair;
  }

  /// The host and the headers of a gRPC call, which is made over HTTP/2. Every other request is HTTP/1.1.
  static constexpr const char* kCalledHost = "gateway.test";
  inline static const std::vector<std::string> kCall = {"content-type: application/grpc"};

 private:
  void askHttp1(const control::RequestInQuestion& asked, const control::UrlInQuestion& url, RecordedPair& pair) {
    std::string text = asked.method + " " + url.target + " HTTP/1.1\r\nHost: " + url.authority + "\r\n";
    for (const std::string& header : asked.headers) text += header + "\r\n";
    if (client_ == nullptr || client_->over() || client_->finished) {
      ClientPeer& peer = rig_.connect();
      peer.reads = false;
      client_ = &peer.wire();
    }
    client_->deliver(text + "\r\n");
    rig_.settle();
    serve(pair, http::Version::kHttp11);
    pair.answered = client_->take();
  }

  void call(const std::string& target, RecordedPair& pair) {
    if (caller_ == nullptr) caller_ = &rig_.connect(http::Version::kHttp2);
    rig_.settle();
    const std::size_t index = caller_->ask({http::Method::kPost, target, {{"content-type", "application/grpc"}}});
    rig_.settle();
    serve(pair, http::Version::kHttp2);
    pair.answered = "\r\n";
    for (const auto& [name, value] : fieldList(caller_->answer(index).message.head.headers))
      pair.answered += name + ": " + value + "\r\n";
  }

  /// Lets the origins accept connections, and answer the request if it came to one of them.
  void serve(RecordedPair& pair, http::Version version) {
    while (rig_.dialled() > rig_.backends.size()) rig_.accept(rig_.backends.size(), version);
    served_.resize(rig_.backends.size());
    for (std::size_t i = 0; i < served_.size(); ++i) {
      BackendPeer& origin = *rig_.backends[i];
      if (origin.requests() == served_[i]) continue;
      const std::size_t index = served_[i]++;
      const http::RequestHead& head = origin.request(index).message.head;
      pair.reached = true;
      pair.authority = head.authority;
      pair.path = head.sentPath.empty() ? head.path() : head.sentPath;
      for (const http::Field& field : head.headers) {
        if (field.name == "x-trail") pair.requestTrail.emplace_back(field.value);
      }
      origin.respond(index, 200, head.method == http::Method::kHead ? "" : "ok");
      rig_.settle();
    }
  }

  void readLog(RecordedPair& pair) {
    rig_.flushLog();
    char line[4096];
    ASSERT_NE(std::fgets(line, sizeof line, file_), nullptr) << "the exchange did not end";
    const auto value = content::parseJson(line);
    ASSERT_TRUE(value.ok()) << line;
    const auto member = [&](const char* name) {
      const content::Value* found = value->find(name);
      return found != nullptr && !found->isNull() ? found->text : std::string();
    };
    pair.status = member("http.response.status_code");
    pair.gateway = member("gateway");
    pair.listener = member("listener");
    pair.route = member("route");
    pair.backend = member("backend");
    pair.errorType = member("error.type");
  }

  std::FILE* const file_ = std::tmpfile();
  // Appends through a descriptor of its own place in the file, while the test reads behind.
  const std::unique_ptr<observe::LineFile> log_ =
      observe::LineFile::open("/proc/self/fd/" + std::to_string(fileno(file_))).value();
  Rig rig_;
  Wire* client_ = nullptr;
  ClientPeer* caller_ = nullptr;
  std::vector<std::size_t> served_;
};

}  // namespace sluice::test
