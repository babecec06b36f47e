#include "config/revision.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "config/object_identity.h"
#include "config/object_kinds.h"
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

/// A tree as bytes. No tree's bytes are those of another tree, or begin with them: kind, length, content.
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

  /// The members that count, by key.
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

bool mayHoldSecret(const ObjectIdentity& identity) {
  if (identity.group.empty() && identity.kind == "Secret") return true;
  return findObjectKind(identity.group, identity.kind) == nullptr && !isUnbuiltKind(identity.group, identity.kind);
}

enum class Covers : std::uint8_t { kRevision, kEndpoints };

bool isEndpointSlice(const ObjectIdentity& identity) {
  return identity.group == kDiscoveryGroup && identity.kind == "EndpointSlice";
}

class Collector {
 public:
  Collector(const base::Secret& key, Covers covers) : key_(key), covers_(covers) {}

  void addDocument(const Value& root, bool insideList = false) {
    if (root.isNull()) return;
    const ObjectIdentity identity = identify(root);
    if (identity.isList() && !insideList) {
      const Value* items = root.find("items");
      if (items == nullptr) return;
      for (const Value& item : items->items) addDocument(item, /*insideList=*/true);
      return;
    }
    if (isEndpointSlice(identity) != (covers_ == Covers::kEndpoints)) return;
    Encoder object;
    object.addObject(root);
    const pki::Sha256Digest digest =
        mayHoldSecret(identity) ? pki::hmacSha256(key_, object.bytes()) : pki::sha256(object.bytes());
    objects_.emplace(nameOf(identity, digest), digest);
  }

  std::string revision() const {
    pki::Sha256 all;
    for (const auto& [name, digest] : objects_) all.add(pki::asBytes(digest));
    return pki::toHex(all.finish()).substr(0, kDigits);
  }

 private:
  static std::string nameOf(const ObjectIdentity& identity, const pki::Sha256Digest& digest) {
    // What has no name is no second definition of anything.
    if (identity.name.empty()) return std::string(pki::asBytes(digest));
    Encoder name;
    for (const std::string& part : {identity.group, identity.kind, identity.nameSpace, identity.name}) {
      name.addText(part);
    }
    return name.bytes();
  }

  const base::Secret& key_;
  const Covers covers_;
  /// By what they are, so that only documents of the same object keep the order in which they were written.
  std::multimap<std::string, pki::Sha256Digest> objects_;
};

}  // namespace

std::string revisionOf(const std::vector<Document>& documents, const base::Secret& key) {
  Collector collector(key, Covers::kRevision);
  for (const Document& document : documents) collector.addDocument(document.root);
  return collector.revision();
}

std::string endpointsDigestOf(const std::vector<Document>& documents) {
  const base::Secret none;
  Collector collector(none, Covers::kEndpoints);
  for (const Document& document : documents) collector.addDocument(document.root);
  return collector.revision();
}

std::string revisionOfUnreadable(const std::vector<SourceText>& texts, const Problems& problems,
                                 const base::Secret& key) {
  Encoder all;
  for (const SourceText& text : texts) {
    all.addText(text.file);
    all.addText(text.text);
  }
  // A text and a problem can not be taken for each other: no file has an empty name.
  for (const Problem& problem : problems) {
    all.addText({});
    all.addText(render(problem));
  }
  return pki::toHex(pki::hmacSha256(key, all.bytes())).substr(0, kDigits);
}

}  // namespace sluice::config
