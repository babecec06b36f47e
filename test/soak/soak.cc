#include "test/soak/soak.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "test/integration/support/waiting.h"

namespace sluice::soak {
namespace {

using namespace std::chrono_literals;

constexpr double kBytesPerMib = 1024 * 1024;
/// A shorter course cannot distinguish growth from warming up.
constexpr std::chrono::minutes kTelling(5);
constexpr std::chrono::seconds kProgress(30);
/// A course opens fewer than this on the way to its last sample: the name server's sockets and the log's.
constexpr double kMoreDescriptors = 10;

std::string text(const char* format, auto... values) {
  std::string line(300, '\0');
  const int size = std::snprintf(line.data(), line.size(), format, values...);
  line.resize(std::min(line.size(), static_cast<std::size_t>(size)));
  return line;
}

std::vector<Actor> everybody(const std::string& only) {
  std::vector<Actor> all;
  for (auto* group : {strictClients, peerClients, webSocketClients, roughClients, clientsOfRoughOrigins, operators,
                      namekeepers, auditors}) {
    for (Actor& actor : group()) {
      if (actor.name.find(only) != std::string::npos) all.push_back(std::move(actor));
    }
  }
  return all;
}

}  // namespace

Soak::Soak(const SoakOptions& options)
    : options_(options),
      before_(sampleOf(testbed_.gateway())),
      course_(options.length),
      actors_(everybody(options.only)) {
  for (const Actor& actor : actors_) ledgers_.emplace_back(actor.name, course_);
}

bool Soak::run() {
  say(course_,
      text("%zu actors for %lld s, seed %u; the gateway is process %d", actors_.size(),
           static_cast<long long>(options_.length.count()), options_.seed, testbed_.gateway().process().pid()));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < actors_.size(); ++i) {
    threads.emplace_back(
        [this, i] { perform(actors_[i], ledgers_[i], options_.seed + static_cast<std::uint32_t>(i)); });
  }
  watch();
  for (std::thread& thread : threads) thread.join();
  if (samples_.back().residentMib > 0) judge();
  stopGateway();
  report();
  return errors() == 0 && !testing::UnitTest::GetInstance()->Failed();
}

void Soak::judge() {
  // AddressSanitizer's allocator keeps spreading live memory over more pages; optimised binaries have no probe, and
  // need none.
  const bool probed = samples_.back().heapMib > 0;
  if (probed) judgeTrend("heap in use (MiB)", &Sample::heapMib, 0.03, 1);
  judgeTrend("resident (MiB)", &Sample::residentMib, probed ? 0.1 : 0.03, probed ? 16 : 4);
  judgeTrend("descriptors", &Sample::descriptors, 0.1, 32);
  judgeTrend("metric series", &Sample::series, 0.03, 16);
  judgeEnd();
}

void Soak::perform(const Actor& actor, Ledger& ledger, std::uint32_t seed) {
  std::mt19937 random(seed);
  Scene scene{testbed_, course_, ledger, random};
  while (!course_.over()) {
    actor.round(scene);
    ledger.round();
    course_.pause(actor.pause);
  }
}

void Soak::watch() {
  const auto interval = std::clamp<std::chrono::milliseconds>(course_.length() / 240, 500ms, 5s);
  auto next = Clock::now() + kProgress;
  do {
    samples_.push_back(sampleOf(testbed_.gateway()));
    samples_.back().heapMib = testbed_.heapBytes() / kBytesPerMib;
    if (samples_.back().residentMib == 0) {
      verdict_.wrong("the process is gone");
      return course_.end();
    }
    if (Clock::now() < next) continue;
    progress();
    next += kProgress;
  } while (course_.pause(interval));
}

void Soak::progress() const {
  std::uint64_t checks = 0;
  for (const Ledger& ledger : ledgers_) checks += ledger.checks();
  const Sample& now = samples_.back();
  say(course_,
      text("%lu checks, %lu errors; %.1f MiB of heap, %.1f resident, %.0f descriptors, %.0f series, %.0f exchanges",
           static_cast<unsigned long>(checks), static_cast<unsigned long>(errors()), now.heapMib, now.residentMib,
           now.descriptors, now.series, now.exchanges));
}

void Soak::judgeTrend(const char* what, double Sample::*member, double share, double slack) {
  std::vector<double> values;
  for (const Sample& sample : samples_) values.push_back(sample.*member);
  const std::optional<Trend> trend = trendOf(values);
  if (!trend) return;
  const bool telling = course_.length() >= kTelling;
  findings_.push_back(text("%-18s %8.1f in the third quarter, %8.1f in the last, at most %8.1f%s", what, trend->third,
                           trend->last, *std::max_element(values.begin(), values.end()),
                           telling ? "" : " (not judged: too short)"));
  if (telling) verdict_.expect(trend->isFlat(share, slack), std::string(what) + " grows: " + findings_.back());
}

// All clients have left, so none of their exchanges and connections may remain.
void Soak::judgeEnd() {
  test::GatewayProcess& gateway = testbed_.gateway();
  const auto empties = [&](const char* what, const std::function<double()>& value, double most) {
    const bool empty = test::eventually([&] { return value() <= most; });
    const std::string line = text("%-34s %8.0f at the end", what, value());
    findings_.push_back(line);
    verdict_.expect(empty, line + text(", more than %.0f", most));
  };
  const auto sum = [&](const char* metric) { return [&gateway, metric] { return sumOf(gateway.metrics(), metric); }; };
  empties(
      "live exchanges", [&] { return sampleOf(gateway).exchanges; }, 0);
  empties("http_server_active_requests", sum("http_server_active_requests"), 0);
  empties("http_client_open_connections", sum("http_client_open_connections"), 0);
  empties(
      "descriptors", [&] { return sampleOf(gateway).descriptors; }, before_.descriptors + kMoreDescriptors);
  empties("sluice_metric_series_dropped_total", sum("sluice_metric_series_dropped_total"), 0);
  const std::string page = gateway.metrics();
  for (const char* code : {"proxy_internal_error", "proxy_configuration_error"}) {
    const bool none = page.find("error_type=\"" + std::string(code) + "\"") == std::string::npos;
    verdict_.expect(none, std::string("there were answers with ") + code);
  }
  for (const char* result : {"success", "failure", "unchanged"}) {
    const std::string series = "sluice_config_reloads_total{result=\"" + std::string(result) + "\"";
    findings_.push_back(text("reloads, %-10s %8.0f", result, sumOf(page, series)));
  }
  findings_.push_back(text("requests %8.0f", sumOf(page, "http_server_request_duration_seconds_count")));
}

void Soak::stopGateway() {
  test::ChildProcess& process = testbed_.gateway().process();
  process.signal(SIGTERM);
  const int code = process.wait(60s);
  verdict_.expect(code == 0, text("exit code %d after SIGTERM", code));
  const std::string errors = process.errors();
  for (const char* complaint : {"Sanitizer", "runtime error:"}) {
    const std::size_t at = errors.find(complaint);
    verdict_.expect(at == std::string::npos, at == std::string::npos ? "" : errors.substr(at > 200 ? at - 200 : 0));
  }
}

void Soak::report() const {
  std::printf("\n%-26s %9s %9s %7s\n", "who", "rounds", "checks", "errors");
  const auto line = [](const Ledger& ledger) {
    std::printf("%-26s %9lu %9lu %7lu\n", ledger.actor().c_str(), static_cast<unsigned long>(ledger.rounds()),
                static_cast<unsigned long>(ledger.checks()), static_cast<unsigned long>(ledger.errors()));
  };
  for (const Ledger& ledger : ledgers_) line(ledger);
  line(verdict_);
  std::printf("\n");
  for (const std::string& finding : findings_) std::printf("%s\n", finding.c_str());
}

std::uint64_t Soak::errors() const {
  std::uint64_t sum = verdict_.errors();
  for (const Ledger& ledger : ledgers_) sum += ledger.errors();
  return sum;
}

}  // namespace sluice::soak
