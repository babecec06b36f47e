#include "proxy/kubernetes/revisions/revised_objects.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/load/revision.h"
#include "proxy/base/base64.h"
#include "proxy/base/byte_queue.h"
#include "proxy/content/decoder.h"
#include "proxy/content/gzip.h"

namespace sluice::kubernetes {
namespace {

/// Returns true for kinds that are known to contain no secrets, and whose objects change only when people change them.
bool isKept(const config::ObjectReading& reading) {
  const config::ObjectKind* kind = reading.kind;
  return kind != nullptr && !kind->isOf<config::SecretObject>() && !kind->isOf<config::Service>() &&
         !kind->isOf<config::EndpointSlice>();
}

}  // namespace

bool isRevised(const config::KeptText& text, const std::vector<config::ObjectReading>& readings) {
  return config::isOfApiServer(text.file) && !readings.empty() && std::all_of(readings.begin(), readings.end(), isKept);
}

std::string revisionOfObjects(const config::ObjectSet& set) {
  std::vector<const config::RevisionEntry*> entries;
  for (std::size_t i = 0; i < set.readings.size(); ++i) {
    if (!isRevised(*set.texts[i], *set.readings[i])) continue;
    for (const config::ObjectReading& each : *set.readings[i]) {
      if (each.revision) entries.push_back(&*each.revision);
    }
  }
  return config::revisionOf(config::digestOf(std::move(entries)));
}

config::KeptTexts revisedTexts(const config::ObjectSet& set) {
  config::KeptTexts texts;
  for (std::size_t i = 0; i < set.readings.size(); ++i) {
    if (isRevised(*set.texts[i], *set.readings[i])) texts.push_back(set.texts[i]);
  }
  return texts;
}

std::string packObjects(const config::KeptTexts& texts) {
  std::vector<std::string_view> pieces;
  pieces.reserve(2 * texts.size());
  std::size_t size = 0;
  for (const std::shared_ptr<const config::KeptText>& each : texts) {
    pieces.insert(pieces.end(), {each->text.reveal(), "\n"});
    size += each->text.reveal().size() + 1;
  }
  if (size > RevisedObjects::kMostTextBytes) return {};
  std::string data = base::encodeBase64(content::gzip(pieces));
  return data.size() <= RevisedObjects::kMostDataBytes ? data : std::string();
}

base::Result<config::KeptTexts> unpackObjects(const PinnedRevision& pinned) {
  if (pinned.data.empty()) return base::Error::config("is missing, because the objects were too large to be kept");
  const std::optional<std::string> bytes = base::decodeBase64(pinned.data);
  if (!bytes) return base::Error::config("is not base64");
  // This is the highest ratio that gzip can have, so only the size is bounded.
  constexpr std::uint32_t kDensest = 1100;
  auto decoder = content::Decoder::make("gzip", {RevisedObjects::kMostTextBytes, kDensest});
  base::ChunkPool pool;
  base::ByteQueue lines(pool);
  std::string_view in = *bytes;
  if (content::failed(decoder->feed(in, lines)) || content::failed(decoder->end())) {
    return base::Error::config("is no gzip of at most " + std::to_string(RevisedObjects::kMostTextBytes) + " bytes");
  }
  const std::string all = lines.text();
  config::KeptTexts texts;
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t end = std::min(all.find('\n', from), all.size());
    // People and caches identify the object by this name.
    std::string name(config::kApiServerPrefix);
    name.append("EgressRevision/").append(pinned.name).append("/").append(std::to_string(texts.size()));
    texts.push_back(
        std::make_shared<const config::KeptText>(std::move(name), base::Secret(all.substr(from, end - from))));
    from = end + 1;
  }
  return texts;
}

}  // namespace sluice::kubernetes
