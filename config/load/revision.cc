#include "config/load/revision.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "config/read/object_identity.h"
#include "config/read/object_kinds.h"
#include "proxy/pki/digest.h"

namespace sluice::config {
namespace {

constexpr std::size_t kDigits = 12;

using Counts = bool (*)(std::string_view key);

bool anyKey(std::string_view /*key*/) { return true; }
bool ofObject(std::string_view key) { return key != "status"; }
bool ofMetadata(std::string_view key) {
  return key != "generation" &&
         std::find(std::begin(kServerFields), std::end(kServerFields), key) == std::end(kServerFields);
}

/// Encodes a tree as bytes (kind, length, content). Two different trees have different bytes, and neither is a prefix
/// of the other.
class Encoder {
 public:
  void addObject(const Value& root) {
    if (!root.isMap()) return add(root);
    for (const Member* member : begin(root, ofObject)) {
      addText(member->key);
      if (member->key == "metadata") {
        add(member->value, ofMetadata);
      } else {
        add(member->value);
      }
    }
  }
  void addText(std::string_view text) {
    addNumber(text.size());
    bytes_ += text;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void add(const Value& value, Counts counts = anyKey) {
    switch (value.kind) {
      case Value::Kind::kNull:
        bytes_ += 'n';
        break;
      case Value::Kind::kBool:
        bytes_ += 'b';
        addText(value.text);
        break;
      case Value::Kind::kNumber:
        bytes_ += 'd';
        addText(value.text);
        break;
      case Value::Kind::kString:
        bytes_ += 's';
        addText(value.text);
        break;
      case Value::Kind::kList:
        bytes_ += 'l';
        addNumber(value.items.size());
        for (const Value& item : value.items) add(item);
        break;
      case Value::Kind::kMap:
        for (const Member* member : begin(value, counts)) {
          addText(member->key);
          add(member->value);
        }
        break;
    }
  }

  /// Returns the members that are part of the digest, sorted by key.
  std::vector<const Member*> begin(const Value& map, Counts counts) {
    std::vector<const Member*> members;
    for (const Member& member : map.members) {
      if (counts(member.key)) members.push_back(&member);
    }
    std::sort(members.begin(), members.end(), [](const Member* a, const Member* b) { return a->key < b->key; });
    bytes_ += 'm';
    addNumber(members.size());
    return members;
  }

  void addNumber(std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes_ += static_cast<char>(number >> shift & 0xff);
  }

  std::string bytes_;
};

/// An object of an unknown kind may be a misspelt Secret, so it is treated as one.
Covers coversOf(const ObjectIdentity& identity) {
  if (const ObjectKind* kind = findObjectKind(identity.group, identity.kind)) return kind->covers;
  return isUnsupportedKind(identity.group, identity.kind) ? Covers::kRevision : Covers::kRevisionByKey;
}

std::string nameOf(const ObjectIdentity& identity, const pki::Sha256Digest& digest) {
  // An object without a name cannot define the same object as another one.
  if (identity.name.empty()) return std::string(pki::asBytes(digest));
  Encoder name;
  for (const std::string& part : {identity.group, identity.kind, identity.nameSpace, identity.name}) {
    name.addText(part);
  }
  return name.bytes();
}

}  // namespace

RevisionEntry revisionEntry(const Value& root, const ObjectIdentity& identity, const base::Secret& key) {
  Encoder object;
  object.addObject(root);
  const Covers covers = coversOf(identity);
  const pki::Sha256Digest digest =
      covers == Covers::kRevisionByKey ? pki::hmacSha256(key, object.bytes()) : pki::sha256(object.bytes());
  return {nameOf(identity, digest), digest, covers};
}

std::string digestOf(std::vector<const RevisionEntry*> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const RevisionEntry* a, const RevisionEntry* b) { return a->name < b->name; });
  pki::Sha256 all;
  for (const RevisionEntry* entry : entries) all.add(pki::asBytes(entry->digest));
  return pki::toHex(all.finish());
}

std::string digestOfUnreadable(const KeptTexts& texts, const Problems& problems, const base::Secret& key) {
  Encoder all;
  for (const std::shared_ptr<const KeptText>& text : texts) {
    all.addText(text->file);
    all.addText(text->text.reveal());
  }
  // A text and a problem cannot be confused, because every file has a name.
  for (const Problem& problem : problems) {
    all.addText({});
    all.addText(render(problem));
  }
  return pki::toHex(pki::hmacSha256(key, all.bytes()));
}

std::string revisionOf(const std::string& digest) { return digest.substr(0, kDigits); }

}  // namespace sluice::config
