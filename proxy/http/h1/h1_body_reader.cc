#include "proxy/http/h1/h1_body_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice::http {
namespace {

H1BodyReader::BodyStep failed(H1Fault fault) {
  H1BodyReader::BodyStep step;
  step.status = H1BodyReader::Status::kFailed;
  step.fault = fault;
  return step;
}

H1BodyReader::BodyStep only(H1BodyReader::Status status, std::string_view data = {}) {
  H1BodyReader::BodyStep step;
  step.status = status;
  step.data = data;
  return step;
}

}  // namespace

void H1BodyReader::begin(H1Framing framing, std::uint64_t length, const MessageBounds& limits) {
  framing_ = framing;
  remaining_ = framing == H1Framing::kLength ? length : std::numeric_limits<std::uint64_t>::max();
  credit_ = std::min(limits.firstWindow, limits.streamWindow);
  chunks_ = H1ChunkDecoder(limits.chunkExtensionBytes);
  inTrailers_ = false;
}

H1BodyReader::BodyStep H1BodyReader::next(std::string_view& input, H1SectionReader& sections, base::ChunkPool& pool) {
  if (framing_ != H1Framing::kChunked) return nextRun(input);
  BodyStep step = inTrailers_ ? BodyStep{} : nextOfChunks(input, sections);
  // The trailer section's first bytes may have come with the last chunk.
  if (inTrailers_ && !input.empty()) return nextOfTrailers(input, sections, pool);
  return step;
}

H1BodyReader::BodyStep H1BodyReader::nextRun(std::string_view& input) {
  if (credit_ == 0) return only(Status::kBlocked);
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>({remaining_, input.size(), credit_}));
  const std::string_view run = input.substr(0, size);
  input.remove_prefix(size);
  if (framing_ == H1Framing::kLength) remaining_ -= size;
  credit_ -= size;
  return only(Status::kData, run);
}

H1BodyReader::BodyStep H1BodyReader::nextOfChunks(std::string_view& input, H1SectionReader& sections) {
  std::string_view run;
  switch (chunks_.next(input, credit_, run)) {
    case H1ChunkDecoder::Status::kNeedMore:
      return only(Status::kNeedMore);
    case H1ChunkDecoder::Status::kBlocked:
      return only(Status::kBlocked);
    case H1ChunkDecoder::Status::kData:
      credit_ -= run.size();
      return only(Status::kData, run);
    case H1ChunkDecoder::Status::kLastChunk:
      sections.begin(H1Section::kTrailers);
      inTrailers_ = true;
      return only(Status::kNeedMore);
    case H1ChunkDecoder::Status::kMalformed:
      return failed({"the chunked coding is malformed", 400, {}});
    case H1ChunkDecoder::Status::kExtensionsTooLong:
      return failed({"too many chunk extensions", 400, Limit::kChunkExtensionBytes});
  }
  return only(Status::kNeedMore);
}

H1BodyReader::BodyStep H1BodyReader::nextOfTrailers(std::string_view& input, H1SectionReader& sections,
                                                    base::ChunkPool& pool) {
  std::size_t used = 0;
  H1LineEnds ends;
  switch (sections.scan(input, used, ends)) {
    case H1SectionReader::Status::kNeedMore:
      input = {};
      return only(Status::kNeedMore);
    case H1SectionReader::Status::kFailed:
      return failed(sections.fault());
    case H1SectionReader::Status::kComplete:
      break;
  }
  BodyStep step = only(Status::kEnd);
  if (sections.fieldLines() == 0) {
    sections.begin(H1Section::kTrailers);
  } else {
    Trailers trailers(pool);
    const auto section = sections.collect(trailers.arena, input.substr(0, used), ends);
    const char* why =
        parseTrailers(section, ends, sections.fieldLines(), trailers.arena, sections.messages(), trailers.fields);
    if (why == nullptr && !checkTrailers(trailers.fields)) why = "a trailer field is malformed";
    if (why != nullptr) return failed({why, 400, {}});
    if (!trailers.fields.empty()) step.trailers.emplace(std::move(trailers));
  }
  input.remove_prefix(used);
  return step;
}

}  // namespace sluice::http
