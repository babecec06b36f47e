// acme.example.com/PIIDetector:v1 as a library of the gateway: it removes personal data from bodies of requests and
// responses, piece by piece, so that bodies of any length take no more memory than a finding.
//
// It finds characters that JSON writes as escapes too. It does not parse JSON: a number without quotes is replaced by
// something that is no number.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "redactor.h"
#include "settings.h"
#include "sluice_processor.h"

namespace {

const sluice_host* host = nullptr;

/// The default of limits.processorBuffer, which bounds what the gateway holds.
constexpr std::uint64_t kMostHeld = std::uint64_t{2} * 1024 * 1024;

/// The state of a step while the pieces of its body come.
struct BodyStep {
  explicit BodyStep(const pii::Settings& settings) : redactor(settings) {}
  pii::Redactor redactor;
  std::uint64_t bytes = 0;
};

std::size_t configure(const char*, std::size_t, const char* config, std::size_t size, std::uint32_t, void** use,
                      char* error, std::size_t errorSize) noexcept {
  auto settings = std::make_unique<pii::Settings>();
  const std::string fault = pii::readSettings({config, size}, *settings);
  if (!fault.empty()) {
    const std::size_t length = std::min(fault.size(), errorSize);
    std::memcpy(error, fault.data(), length);
    return length;
  }
  *use = settings.release();
  return 0;
}

void release(void* use) noexcept { std::unique_ptr<pii::Settings>(static_cast<pii::Settings*>(use)); }

// A body with a small bound is held until all of it has come, so that nothing of one that is refused reaches the
// origin.
int body(void* use, int) noexcept {
  const std::uint64_t most = static_cast<const pii::Settings*>(use)->mostBytes;
  return SLUICE_BODY_TEXT | (most != 0 && most <= kMostHeld ? SLUICE_BODY_WHOLE : SLUICE_BODY_CHUNKS);
}

int tooLong(sluice_call* call) {
  constexpr std::string_view kDetail = "the body is longer than maxBodyBytes";
  if (host->status(call) != 0) {
    host->fail(call, kDetail.data(), kDetail.size());
    return SLUICE_FAIL;
  }
  return host->respond(call, 413, nullptr, 0) == 1 ? SLUICE_RESPOND : SLUICE_FAIL;
}

int process(void* use, sluice_call* call) noexcept {
  const auto& settings = *static_cast<const pii::Settings*>(use);
  const std::uint64_t most = settings.mostBytes;
  if (host->has_body(call) == 0) return SLUICE_CONTINUE;
  auto* step = static_cast<BodyStep*>(host->memory(call));
  if (step == nullptr) {
    const std::int64_t stated = host->stated_size(call);
    if (most != 0 && stated > 0 && static_cast<std::uint64_t>(stated) > most) return tooLong(call);
    host->set_memory(call, step = std::make_unique<BodyStep>(settings).release());
  }
  std::string piece(host->body_size(call), '\0');
  host->body_read(call, 0, piece.data(), piece.size());
  step->bytes += piece.size();
  if (most != 0 && step->bytes > most) return tooLong(call);
  const std::string out = step->redactor.take(piece, host->body_is_last(call) == 1);
  return host->body_write(call, out.data(), out.size()) == 1 ? SLUICE_CONTINUE : SLUICE_FAIL;
}

void end(void*, void* memory) noexcept { std::unique_ptr<BodyStep>(static_cast<BodyStep*>(memory)); }

constexpr std::uint32_t kPhases = 1U << SLUICE_REQUEST_BODY | 1U << SLUICE_BACKEND_REQUEST |
                                  1U << SLUICE_BACKEND_RESPONSE | 1U << SLUICE_RESPONSE_BODY;
constexpr sluice_processor kProcessor{sizeof(sluice_processor),
                                      SLUICE_PROCESSOR_MAJOR,
                                      SLUICE_PROCESSOR_MINOR,
                                      kPhases,
                                      configure,
                                      release,
                                      body,
                                      process,
                                      end};

}  // namespace

extern "C" __attribute__((visibility("default"))) const sluice_processor* sluice_processor_v1(const sluice_host* of) {
  host = of;
  return &kProcessor;
}
