// A library of payload processors for tests. The config of a use says what it does, and macros of the build how its
// table is wrong.
//
// The gateway does not trust that it keeps the rules of the interface, so most of what it does breaks one.
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "filters/library/sluice_processor.h"

namespace {

const sluice_host* host = nullptr;

/// The behaviour of a use, and the threads that it has started.
struct TestUse {
  std::string does;
  std::mutex mutex;
  std::vector<std::thread> threads;
};

struct TestStep {
  std::uint64_t handle = 0;
  int calls = 0;
};

/// Returns the text of "do" in the config, without a parser.
std::string actionOf(const std::string& config) {
  const std::string key = "\"do\":\"";
  const std::size_t at = config.find(key);
  return at == std::string::npos ? ""
                                 : config.substr(at + key.size(), config.find('"', at + key.size()) - at - key.size());
}

std::size_t refuse(const std::string& why, char* error, std::size_t size) {
  std::memcpy(error, why.data(), why.size() < size ? why.size() : size);
  return why.size();
}

std::size_t configure(const char*, std::size_t, const char* config, std::size_t size, std::uint32_t, void** use,
                      char* error, std::size_t errorSize) {
  const std::string does = actionOf(std::string(config, size));
  if (does == "refuse-config") return refuse("do: must be something else", error, errorSize);
  if (does == "nonsense-reason") return std::size_t{1} << 40;
  if (does == "throw-in-configure") throw std::runtime_error("in configure");
  auto* const made = new TestUse;
  made->does = does;
  *use = made;
  return 0;
}

void release(void* use) {
  auto* const made = static_cast<TestUse*>(use);
  for (std::thread& each : made->threads) each.join();
  const bool throws = made->does == "throw-at-the-end";
  delete made;
  if (throws) throw std::runtime_error("in release");
}

int body(void* use, int) {
  const std::string& does = static_cast<TestUse*>(use)->does;
  if (does == "nonsense-body") return 9;
  if (does == "throw-in-body") throw std::runtime_error("in body");
  if (does == "whole" || does == "huge-write" || does == "trailers") return SLUICE_BODY_WHOLE;
  if (does == "chunks" || does == "drop") return SLUICE_BODY_CHUNKS | SLUICE_BODY_TEXT;
  return does == "inspect" ? SLUICE_BODY_INSPECT : SLUICE_BODY_NONE;
}

int set(sluice_call* call, const std::string& name, const std::string& value) {
  return host->header_set(call, name.data(), name.size(), value.data(), value.size());
}

std::string valueOf(sluice_call* call, int which) {
  const char* text = nullptr;
  std::size_t size = 0;
  return host->value(call, which, &text, &size) == 1 ? std::string(text, size) : "-";
}

std::string bodyOf(sluice_call* call) {
  std::string text(host->body_size(call), ' ');
  host->body_read(call, 0, text.data(), text.size());
  return text;
}

int respond(sluice_call* call, int status, const std::string& text) {
  if (host->respond(call, status, text.data(), text.size()) == 0) return SLUICE_FAIL;
  const std::string name = "x-answer";
  host->respond_header(call, name.data(), name.size(), "1", 1);
  return SLUICE_RESPOND;
}

int fail(sluice_call* call, const std::string& why) {
  host->fail(call, why.data(), why.size());
  return SLUICE_FAIL;
}

/// Sets x-seen to everything that the interface shows of the message.
int show(sluice_call* call) {
  std::string seen = std::to_string(host->phase(call)) + " " + std::to_string(host->status(call));
  for (int which = SLUICE_METHOD; which <= SLUICE_SOURCE_ASSURANCE + 1; ++which) seen += "|" + valueOf(call, which);
  for (std::size_t i = 0; i < host->header_count(call); ++i) {
    const char* name = nullptr;
    const char* value = nullptr;
    std::size_t nameSize = 0;
    std::size_t valueSize = 0;
    host->header_at(call, i, &name, &nameSize, &value, &valueSize);
    seen += "|" + std::string(name, nameSize) + "=" + std::string(value, valueSize);
  }
  set(call, "x-seen", seen);
  return SLUICE_CONTINUE;
}

/// Tries what is not permitted, and sets x-done to the results.
int trespass(sluice_call* call) {
  std::string done;
  for (const char* name : {"host", "content-length", "a b", ""}) done += std::to_string(set(call, name, "x"));
  done += std::to_string(set(call, "x-split", "a\r\nb: c"));
  done += std::to_string(host->set_path(call, "no path", 7));
  done += std::to_string(host->set_status(call, 99));
  done += std::to_string(host->body_write(call, "x", 1));
  done += std::to_string(host->address_remove(call, 0));
  done += std::to_string(host->respond(call, 99, nullptr, 0));
  const char* text = nullptr;
  std::size_t size = 0;
  done += std::to_string(host->header(call, "absent", 6, &text, &size));
  set(call, "x-done", done);
  return SLUICE_CONTINUE;
}

int edit(sluice_call* call) {
  set(call, "X-Set", "1");
  host->header_add(call, "x-set", 5, "2", 1);
  host->header_remove(call, "x-old", 5);
  if (host->status(call) == 0) host->set_path(call, "/other?q=1", 10);
  if (host->status(call) != 0) host->set_status(call, 203);
  return SLUICE_CONTINUE;
}

/// Puts each piece of a body in brackets.
int bracket(sluice_call* call) {
  if (host->body_size(call) == 0 && host->body_is_last(call) == 0) set(call, "x-begun", "1");
  const std::string text = "[" + bodyOf(call) + "]";
  host->body_write(call, text.data(), text.size());
  return SLUICE_CONTINUE;
}

int narrow(sluice_call* call) {
  for (std::size_t i = host->address_count(call); i-- > 0;) {
    const char* ip = nullptr;
    std::size_t size = 0;
    int port = 0;
    host->address_at(call, i, &ip, &size, &port);
    if (std::string(ip, size) == "192.0.2.1" && port == 443) host->address_remove(call, i);
  }
  return SLUICE_CONTINUE;
}

int log(sluice_call* call, int level, const std::string& text) {
  return host->log(call, level, text.data(), text.size());
}

/// Writes 20 lines, and sets x-written to the number of those that were taken.
int write(sluice_call* call) {
  int written = log(call, 3, "there is no such level") + log(call, -1, "nor such a one");
  for (int i = 0; i < 20; ++i) written += log(call, i % 3, "line " + std::to_string(i));
  set(call, "x-written", std::to_string(written));
  return SLUICE_CONTINUE;
}

int route(sluice_call* call) {
  const int hinted = host->hint(call, "X-Model", 7, "small", 5) + host->hint(call, "host", 4, "a", 1);
  set(call, "x-routed", std::to_string(host->rematch(call)) + std::to_string(hinted));
  return SLUICE_CONTINUE;
}

/// Changes the trailers, and sets x-trailers to those that there were and to what was done.
int editTrailers(sluice_call* call) {
  std::string seen = std::to_string(host->trailer_count(call));
  const char* name = nullptr;
  const char* value = nullptr;
  std::size_t nameSize = 0;
  std::size_t valueSize = 0;
  for (std::size_t i = 0; host->trailer_at(call, i, &name, &nameSize, &value, &valueSize) == 1; ++i) {
    seen += " " + std::string(name, nameSize) + "=" + std::string(value, valueSize);
  }
  seen += " " + std::to_string(host->trailer_set(call, "x-new", 5, "1", 1));
  seen += std::to_string(host->trailer_set(call, "content-type", 12, "a/b", 3));
  seen += std::to_string(host->trailer_set(call, "x-new", 5, "a\nb", 3));
  seen += std::to_string(host->trailer_remove(call, "x-old", 5));
  set(call, "x-trailers", seen);
  return SLUICE_CONTINUE;
}

/// Waits, and completes the handle in the way of the word behind "wait".
int wait(TestUse& use, sluice_call* call) {
  auto* step = static_cast<TestStep*>(host->memory(call));
  if (step == nullptr) host->set_memory(call, step = new TestStep);
  if (++step->calls > 1) return set(call, "x-calls", std::to_string(step->calls)) == 1 ? SLUICE_CONTINUE : SLUICE_FAIL;
  if (use.does == "wait-for-nothing") return SLUICE_WAIT;
  step->handle = host->suspend(call);
  if (host->suspend(call) != step->handle) return SLUICE_FAIL;
  const std::uint64_t handle = step->handle;
  if (use.does == "wait-at-once") host->complete(handle);
  if (use.does == "wait-for-thread" || use.does == "wait-twice") {
    const int times = use.does == "wait-twice" ? 3 : 1;
    const std::lock_guard<std::mutex> lock(use.mutex);
    use.threads.emplace_back([handle, times] {
      for (int i = 0; i < times; ++i) host->complete(handle);
    });
  }
  return use.does == "wait-and-go-on" ? SLUICE_CONTINUE : SLUICE_WAIT;
}

[[maybe_unused]] int process(void* configured, sluice_call* call) {
  auto& use = *static_cast<TestUse*>(configured);
  const std::string& does = use.does;
  if (does.starts_with("wait")) return wait(use, call);
  if (does == "show") return show(call);
  if (does == "trespass") return trespass(call);
  if (does == "edit") return edit(call);
  if (does == "whole" || does == "chunks") return bracket(call);
  if (does == "narrow") return narrow(call);
  if (does.starts_with("mark "))
    return set(call, "x-mark-library", does.substr(5)) == 1 ? SLUICE_CONTINUE : SLUICE_FAIL;
  if (does == "write") return write(call);
  if (does == "route") return route(call);
  if (does == "trailers") return editTrailers(call);
  if (does == "respond") return respond(call, 451, "no");
  if (does == "fail") return fail(call, "it is not its day");
  if (does == "throw") throw std::runtime_error("over the border");
  if (does == "throw-a-number") throw 7;
  if (does == "nonsense-verdict") return 42;
  if (does == "respond-without") return SLUICE_RESPOND;
  if (does == "nowhere") host->header_set(call, "x-a", 3, nullptr, 8);
  if (does == "huge-header") host->header_set(call, "x-a", 3, "a", std::size_t{1} << 60);
  if (does == "huge-name") host->header_remove(call, "x-a", ~std::size_t{0});
  if (does == "huge-write") host->body_write(call, "a", ~std::size_t{0});
  if (does == "huge-reason") host->fail(call, "a", std::size_t{1} << 32);
  if (does == "drop" && host->has_body(call) == 1) host->body_write(call, nullptr, 0);
  if (does == "throw-at-the-end") host->set_memory(call, &use);
  return SLUICE_CONTINUE;
}

void end(void* configured, void* memory) {
  if (memory == configured) throw std::runtime_error("in end");
  const auto* const step = static_cast<TestStep*>(memory);
  host->complete(step->handle);  // too late, which must not matter
  delete step;
}

}  // namespace

#ifndef SLUICE_TEST_SIZE
#define SLUICE_TEST_SIZE sizeof(sluice_processor)
#endif
#ifndef SLUICE_TEST_MAJOR
#define SLUICE_TEST_MAJOR SLUICE_PROCESSOR_MAJOR
#endif
#ifndef SLUICE_TEST_MINOR
#define SLUICE_TEST_MINOR 7
#endif
#ifndef SLUICE_TEST_PROCESS
#define SLUICE_TEST_PROCESS process
#endif

/// A table of a newer minor version: it is longer than that of this gateway.
struct NewerTable {
  sluice_processor known;
  void* unknown[4];
};

extern "C" {
#ifdef SLUICE_TEST_NO_SYMBOL
const sluice_processor* sluice_processor_v0(const sluice_host*);
const sluice_processor* sluice_processor_v0(const sluice_host* of) {
#else
const sluice_processor* sluice_processor_v1(const sluice_host* of) {
#endif
  host = of;
#ifdef SLUICE_TEST_THROWS
  throw std::runtime_error("in the entry");
#endif
#ifdef SLUICE_TEST_REFUSES
  return nullptr;
#endif
  static const NewerTable kTable{{SLUICE_TEST_SIZE, SLUICE_TEST_MAJOR, SLUICE_TEST_MINOR, 0x7f, configure, release,
                                  body, SLUICE_TEST_PROCESS, end},
                                 {}};
  return &kTable.known;
}
}
