#include "test/soak/testbed.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "test/soak/rough_origin.h"

namespace sluice::soak {
namespace {

constexpr const char* kFlipAddresses[] = {"127.0.0.2", "127.0.0.3"};
constexpr int kWorkers = 2;

// sluice-echo's bodies repeat this text.
constexpr std::string_view kPattern = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.\n";

std::string seconds(std::chrono::seconds time) { return std::to_string(time.count()) + "s"; }

// The small quarantine fills soon, so that later samples can be compared.
std::vector<std::string> environment(const std::string& heapFile) {
  const char* given = std::getenv("ASAN_OPTIONS");
  return {"ASAN_OPTIONS=quarantine_size_mb=16:verify_asan_link_order=0:" + std::string(given != nullptr ? given : ""),
          "LD_PRELOAD=" SLUICE_HEAP_PROBE, "SLUICE_HEAP_PROBE=" + heapFile};
}

}  // namespace

Testbed::Testbed()
    : rough_(roughOrigin()),
      occupant_(test::RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")),
      names_(records({kFlipAddresses[0]}, true), 1) {
  while (pattern_.size() < kMostPattern) pattern_ += kPattern;
  largeFile_ = folder_.write("large", pattern(kLargeFile));
  startEchoesAtTwoAddresses();
  startNginx();
  grpc_ = startNode({"grpc_origin.mjs", folder_.path() + "/origin.crt", folder_.path() + "/origin.key"}, grpcPort_);
  socket_ = startNode({"websocket_origin.mjs"}, socketPort_);
  test::GatewaySpec first = spec(Variant());
  first.environment = environment(heapFile_);
  gateway_ = std::make_unique<test::GatewayProcess>(first);
  tellEveryWorkerTheNames();
}

Testbed::~Testbed() = default;

void Testbed::startEchoesAtTwoAddresses() {
  for (std::size_t i = 0; i < std::size(flip_); ++i) {
    flip_[i] = std::make_unique<test::ChildProcess>(
        std::vector<std::string>{test::programPath("sluice-echo"), "--listen",
                                 std::string(kFlipAddresses[i]) + ":" + std::to_string(flipPort_)});
    EXPECT_TRUE(flip_[i]->waitForLine("listening on ")) << flip_[i]->errors();
  }
}

void Testbed::startNginx() {
  folder_.write("origin.crt", server_.certificate);
  folder_.write("origin.key", server_.key);
  const std::string configuration =
      folder_.write("nginx.conf",
                    "daemon off;\nmaster_process off;\npid nginx.pid;\nevents {}\nhttp {\n  access_log off;\n"
                    "  client_body_temp_path b;\n  proxy_temp_path p;\n  fastcgi_temp_path f;\n  uwsgi_temp_path u;\n"
                    "  scgi_temp_path s;\n  keepalive_requests 200;\n  server {\n    listen 127.0.0.1:" +
                        std::to_string(nginxPort_) +
                        " ssl;\n    ssl_certificate origin.crt;\n    ssl_certificate_key origin.key;\n    root " +
                        folder_.path() + ";\n  }\n}\n");
  nginx_ = std::make_unique<test::ChildProcess>(
      std::vector<std::string>{"nginx", "-p", folder_.path(), "-c", configuration, "-e", "stderr"});
  EXPECT_TRUE(test::waitForPort(nginxPort_)) << nginx_->errors();
}

std::unique_ptr<test::ChildProcess> Testbed::startNode(const std::vector<std::string>& script,
                                                       std::uint16_t& port) const {
  std::vector<std::string> argv = {"node", SLUICE_SOURCE_DIR "/test/integration/clients/" + script.front()};
  argv.insert(argv.end(), script.begin() + 1, script.end());
  auto process = std::make_unique<test::ChildProcess>(argv);
  const auto line = process->waitForLine("listening on ");
  if (line) {
    port = static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(' ') + 1)));
  } else {
    ADD_FAILURE() << script.front() << " does not serve:\n" << process->errors();
  }
  return process;
}

// Each worker has a cache of its own, and a cached answer outlives the name server only on workers that have one. A new
// connection goes to the worker with the fewest.
void Testbed::tellEveryWorkerTheNames() const {
  std::vector<test::BlockingSocket> open;
  for (int i = 0; i < 2 * kWorkers; ++i) {
    open.push_back(test::BlockingSocket::connect(gateway_->port()));
    open.back().send("GET /flip HTTP/1.1\r\nHost: any.test\r\n\r\n");
    EXPECT_EQ(test::readResponse(open.back()).status, 200);
  }
}

double Testbed::heapBytes() const {
  double bytes = 0;
  std::ifstream(heapFile_) >> bytes;
  return bytes;
}

test::NameServer::Records Testbed::records(const std::vector<std::string>& flip, bool gone) const {
  test::NameServer::Records all = {{"flip.test", flip}};
  if (gone) all["gone.test"] = {"127.0.0.1"};
  return all;
}

std::vector<test::BackendSpec> Testbed::backends(const Variant& variant) const {
  const std::string& root = root_.certificate;
  const std::string& other = other_.certificate;
  const auto client = variant.presents ? std::optional(client_) : std::nullopt;
  const std::uint16_t main = variant.second ? two_.port() : one_.port();
  const std::string trusted = variant.moreTrust ? root + other : root;
  return {{.name = "main", .port = main, .ca = trusted, .client = client},
          {.name = "plain", .hostname = "plain.test", .port = plain_.port()},
          {.name = "files", .port = nginxPort_, .ca = root},
          {.name = "grpc", .port = grpcPort_, .ca = root},
          {.name = "pinned", .port = one_.port(), .ca = variant.pinnedRight ? root : other},
          {.name = "socket", .hostname = "socket.test", .port = socketPort_},
          {.name = "rough", .hostname = "rough.test", .port = rough_.port()},
          {.name = "flip", .hostname = "flip.test", .port = flipPort_, .addresses = ""},
          {.name = "gone", .hostname = "gone.test", .port = plain_.port(), .addresses = ""},
          {.name = "never", .hostname = "never.test", .port = plain_.port(), .addresses = ""}};
}

test::GatewaySpec Testbed::spec(const Variant& variant) const {
  test::GatewaySpec spec;
  spec.backends = backends(variant);
  spec.settings = "timeouts: {requestHeader: " + seconds(kRequestHeader) + ", streamIdle: " + seconds(kStreamIdle) +
                  ", upstreamIdle: " + seconds(kUpstreamIdle) +
                  ", clientIdle: 20s, bodyIdle: " + std::to_string(variant.bodyIdle) +
                  "s}\nforwardedHeaders: " + (variant.append ? "Append" : "Off") + "\n";
  spec.routes = serviceOf(variant, "127.0.0.", 2, flipPort_) + "---\n" + routesOf(variant);
  spec.tls = listeners_[variant.otherIssuer ? 1 : 0];
  if (variant.extraListener) {
    spec.listeners = "    - {name: extra, protocol: HTTP, port: " + std::to_string(extraPort_) + "}\n";
  }
  if (variant.takenPort) {
    spec.listeners += "    - {name: taken, protocol: HTTP, port: " + std::to_string(occupant_.port()) + "}\n";
  }
  spec.workers = kWorkers;
  spec.dns = "servers: [\"" + names_.address() +
             "\"], timeout: 500ms, attempts: 2, minTtl: 1s, negativeTtl: 1s, "
             "staleTtl: 1h";
  spec.accessLog = accessLog_;
  return spec;
}

}  // namespace sluice::soak
