#include "proxy/processing/plain_text.h"

#include <algorithm>
#include <limits>
#include <string>

namespace sluice::processing {
namespace {

constexpr std::string_view kField = "content-encoding";

http::Headers& headersOf(const StepTarget& target) {
  return target.response != nullptr ? target.response->headers : target.request.headers;
}

Verdict failure(PipelineHost& host, content::DecodeStatus status) {
  const bool tooLong = status == content::DecodeStatus::kTooLong;
  const bool excess = tooLong || status == content::DecodeStatus::kTooDense;
  const std::string_view limit = tooLong ? "decompressedBody" : excess ? "decompressionRatio" : "";
  if (excess) host.onLimit(limit);
  return Verdict::fail("the body " + std::string(content::describe(status)),
                       excess ? Cause::kOverLimit : Cause::kBadBody, limit);
}

}  // namespace

std::optional<Verdict> PlainText::begin(const PipelineHost& host, const StepTarget& target) {
  std::string codings;
  for (const http::Field& field : headersOf(target)) {
    if (field.name == kField) codings.append(codings.empty() ? "" : ",").append(field.value);
  }
  if (!content::Decoder::needed(codings)) return std::nullopt;
  const BodyLimits limits = host.bodyLimits();
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  decoder_ =
      content::Decoder::make(codings, {limits.decompressed, static_cast<std::uint32_t>(std::min(limits.ratio, kMost))});
  needed_ = decoder_.has_value();
  if (needed_) return std::nullopt;
  return Verdict::fail("the body has a Content-Encoding that cannot be undone", Cause::kBadBody);
}

PlainText::Yield PlainText::decode(PipelineHost& host, base::ByteQueue& coded, bool ended, base::ByteQueue& to,
                                   std::size_t room, base::ByteQueue* taken) {
  do {
    if (to.size() >= room) return {std::nullopt, true};
    std::string_view bytes = coded.front();
    const std::size_t before = bytes.size();
    const content::DecodeStatus status = decoder_->feed(bytes, to, room - to.size());
    const std::size_t count = before - bytes.size();
    if (taken != nullptr) {
      taken->splice(coded, count);
    } else {
      coded.consume(count);
    }
    if (content::failed(status)) return {failure(host, status)};
    if (status == content::DecodeStatus::kMore) return {std::nullopt, true};
  } while (!coded.empty());
  const content::DecodeStatus status = ended ? decoder_->end() : content::DecodeStatus::kTaken;
  return content::failed(status) ? Yield{failure(host, status)} : Yield{};
}

void PlainText::strip(const StepTarget& target, const Step& step) {
  if (target.response != nullptr) {
    target.response->headers.remove(kField);
  } else {
    RequestEditor(target.arena, target.request, step, target.edits).remove(kField);
  }
}

}  // namespace sluice::processing
