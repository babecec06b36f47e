#include "proxy/control/state/ledger.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "config/load/revision.h"
#include "proxy/base/json_writer.h"
#include "proxy/base/timestamp.h"

namespace sluice::control {
namespace {

constexpr std::size_t kFieldsOfOne = 4;

std::string inMilliseconds(base::WallTime time) {
  return std::to_string(std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

}  // namespace

void RevisionLedger::setMost(std::size_t most) {
  most_ = std::max<std::size_t>(most, 1);
  trim();
}

void RevisionLedger::trim() {
  std::size_t served = 0;
  std::size_t tainted = 0;
  std::erase_if(revisions_, [&](const LedgerRevision& each) { return ++(each.tainted() ? tainted : served) > most_; });
}

void RevisionLedger::add(LedgerRevision&& revision) {
  std::erase_if(revisions_, [&](const LedgerRevision& each) { return each.digest == revision.digest; });
  revisions_.insert(revisions_.begin(), std::move(revision));
  trim();
}

void RevisionLedger::addServed(const std::string& digest, const std::string& servedDigest, base::WallTime time) {
  add({digest, servedDigest, time, {}});
}

void RevisionLedger::addTainted(const std::string& digest, std::string reason, base::WallTime time) {
  add({digest, {}, time, std::move(reason)});
}

bool RevisionLedger::clear(std::string_view prefix) {
  const auto matches = [prefix](const LedgerRevision& each) {
    return each.tainted() && each.digest.starts_with(prefix);
  };
  if (prefix.empty()) return false;
  if (std::count_if(revisions_.begin(), revisions_.end(), matches) != 1) return false;
  std::erase_if(revisions_, matches);
  return true;
}

const LedgerRevision* RevisionLedger::findTainted(std::string_view digest) const {
  const auto found = std::find_if(revisions_.begin(), revisions_.end(), [digest](const LedgerRevision& each) {
    return each.tainted() && each.digest == digest;
  });
  return found != revisions_.end() ? &*found : nullptr;
}

std::vector<std::string> RevisionLedger::save() const {
  std::vector<std::string> fields;
  for (const LedgerRevision& each : revisions_) {
    fields.insert(fields.end(), {each.digest, each.servedDigest, inMilliseconds(each.time), each.reason});
  }
  return fields;
}

bool RevisionLedger::load(const std::vector<std::string_view>& fields) {
  if (fields.size() % kFieldsOfOne != 0) return false;
  std::vector<LedgerRevision> read;
  for (std::size_t i = 0; i < fields.size(); i += kFieldsOfOne) {
    const std::string_view time = fields[i + 2];
    std::int64_t count = 0;
    if (std::from_chars(time.data(), time.data() + time.size(), count).ec != std::errc{}) return false;
    read.push_back({std::string(fields[i]), std::string(fields[i + 1]),
                    base::WallTime(std::chrono::milliseconds(count)), std::string(fields[i + 3])});
  }
  // The settings, which are not known yet, may have another bound.
  revisions_ = std::move(read);
  return true;
}

std::string ledgerDocument(const RevisionLedger& ledger) {
  base::JsonWriter json;
  json.beginList();
  for (const LedgerRevision& each : ledger.revisions()) {
    json.beginObject().member("revision", config::revisionOf(each.digest));
    if (!each.servedDigest.empty()) json.member("served", config::revisionOf(each.servedDigest));
    json.member("time", base::Timestamp().text(each.time));
    json.key("tainted").json(each.tainted() ? "true" : "false");
    if (each.tainted()) json.member("reason", each.reason);
    json.endObject();
  }
  json.endList();
  return json.take() + "\n";
}

}  // namespace sluice::control
