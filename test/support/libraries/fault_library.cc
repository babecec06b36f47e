// A library of payload processors that fails in one exact way at one exact point of a body, as the path of the request
// says: ".../FAULT/POINT/CHANGES". The config of a use says in which form it gets bodies: {"body": "chunks"}.
//
// Each step sets x-guard in the head. With CHANGES "changed" it puts each piece of a body into upper case.
#include <cctype>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "filters/library/sluice_processor.h"

namespace {

const sluice_host* gatewayHost = nullptr;

/// A use, with the threads that complete its handles.
struct FaultyUse {
  int form = SLUICE_BODY_NONE;
  std::mutex mutex;
  std::vector<std::thread> threads;
};

struct FaultyLibraryStep {
  std::uint64_t handle = 0;  // one that it completes at its end, when it is too late
  bool waited = false;
};

/// The fault that the path names.
struct FaultWords {
  std::string fault;
  std::string point;
  bool changes = false;
};

std::string lastWord(std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string word = path.substr(slash + 1);
  path.resize(slash == std::string::npos ? 0 : slash);
  return word;
}

FaultWords wordsOf(sluice_call* call) {
  const char* text = nullptr;
  std::size_t size = 0;
  gatewayHost->value(call, SLUICE_PATH, &text, &size);
  std::string path(text, size);
  FaultWords words;
  words.changes = lastWord(path) == "changed";
  words.point = lastWord(path);
  words.fault = lastWord(path);
  return words;
}

std::size_t faultyConfigure(const char*, std::size_t, const char* config, std::size_t size, std::uint32_t, void** use,
                            char*, std::size_t) {
  const std::string text(config, size);
  auto* const made = new FaultyUse;
  if (text.find("whole") != std::string::npos) made->form = SLUICE_BODY_WHOLE;
  if (text.find("chunks") != std::string::npos) made->form = SLUICE_BODY_CHUNKS;
  if (text.find("inspect") != std::string::npos) made->form = SLUICE_BODY_INSPECT;
  *use = made;
  return 0;
}

void faultyRelease(void* use) {
  auto* const made = static_cast<FaultyUse*>(use);
  for (std::thread& each : made->threads) each.join();
  delete made;
}

int faultyBody(void* use, int) { return static_cast<FaultyUse*>(use)->form; }

/// Puts the bytes into upper case.
void raise(sluice_call* call) {
  std::string bytes(gatewayHost->body_size(call), ' ');
  gatewayHost->body_read(call, 0, bytes.data(), bytes.size());
  for (char& each : bytes) each = static_cast<char>(std::toupper(each));
  gatewayHost->body_write(call, bytes.data(), bytes.size());
}

bool isDue(const FaultyUse& use, sluice_call* call, const std::string& point) {
  const bool hasPieces = use.form == SLUICE_BODY_CHUNKS || use.form == SLUICE_BODY_INSPECT;
  if (!hasPieces || gatewayHost->has_body(call) == 0) return point == "head";
  const bool isLast = gatewayHost->body_is_last(call) == 1;
  if (point == "end") return isLast;
  return point == "first" ? gatewayHost->body_size(call) > 0 : gatewayHost->body_size(call) == 0 && !isLast;
}

/// Fails, or waits in a way that ends well or never does.
int failAs(const std::string& fault, FaultyUse& use, sluice_call* call, FaultyLibraryStep& step) {
  if (fault == "error") {
    gatewayHost->fail(call, "on purpose", 10);
    return SLUICE_FAIL;
  }
  if (fault == "throw") throw std::runtime_error("on purpose");
  if (fault == "verdict") return 42;
  if (fault == "answer") return SLUICE_RESPOND;
  if (fault == "size") gatewayHost->header_set(call, "x-a", 3, "a", std::size_t{1} << 60);
  if (fault == "nowhere") gatewayHost->header_set(call, "x-a", 3, nullptr, 8);
  if (fault == "nothing") return SLUICE_WAIT;
  if (fault != "never" && fault != "late" && fault != "twice") return SLUICE_CONTINUE;
  step.waited = true;
  const std::uint64_t handle = gatewayHost->suspend(call);
  if (fault == "late") step.handle = handle;
  if (fault == "twice") {
    const std::lock_guard<std::mutex> lock(use.mutex);
    use.threads.emplace_back([handle] {
      for (int i = 0; i < 3; ++i) gatewayHost->complete(handle);
    });
  }
  return SLUICE_WAIT;
}

int faultyProcess(void* configured, sluice_call* call) {
  auto& use = *static_cast<FaultyUse*>(configured);
  auto* step = static_cast<FaultyLibraryStep*>(gatewayHost->memory(call));
  if (step == nullptr) gatewayHost->set_memory(call, step = new FaultyLibraryStep);
  const FaultWords words = wordsOf(call);
  gatewayHost->header_set(call, "x-guard", 7, "seen", 4);
  const bool mayWrite = use.form == SLUICE_BODY_WHOLE || use.form == SLUICE_BODY_CHUNKS;
  if (words.changes && mayWrite && gatewayHost->has_body(call) == 1) raise(call);
  if (step->waited || !isDue(use, call, words.point)) return SLUICE_CONTINUE;
  return failAs(words.fault, use, call, *step);
}

void faultyEnd(void*, void* memory) {
  const auto* const step = static_cast<FaultyLibraryStep*>(memory);
  if (step->handle != 0) gatewayHost->complete(step->handle);
  delete step;
}

}  // namespace

extern "C" {
const sluice_processor* sluice_processor_v1(const sluice_host* of) {
  gatewayHost = of;
  static const sluice_processor kTable{sizeof(sluice_processor),
                                       SLUICE_PROCESSOR_MAJOR,
                                       SLUICE_PROCESSOR_MINOR,
                                       0x7f,
                                       faultyConfigure,
                                       faultyRelease,
                                       faultyBody,
                                       faultyProcess,
                                       faultyEnd};
  return &kTable;
}
}
