// Finds where a field of an object is written, for messages about objects that have long been read.
//
// It reads the texts of a set again, each at most once and only if one of its objects is asked for. So the model needs
// no position for each of its fields. It belongs to one thread and lives as long as one report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/load/object_set.h"
#include "config/model/name_tuple_hash.h"

namespace sluice::config {

class FieldPlaces {
 public:
  /// `set` outlives it.
  explicit FieldPlaces(const ObjectSet& set);

  /// Returns the position of the field, or of the nearest field above it that is written; the object's own if the path
  /// is empty. Without file and line if there is no such object.
  Position find(const ObjectNameView& object, std::string_view field);

 private:
  struct WrittenObject {
    std::size_t text = 0;  // index in the set
    const ObjectReading* reading = nullptr;
  };
  struct ReadAgain {
    std::vector<Document> documents;
    std::unordered_map<std::uint64_t, const Value*> objects;  // by line and column, also those of Lists
  };
  /// Returns the object as it is written; nullptr if it is not found.
  const Value* documentOf(const WrittenObject& object);

  const ObjectSet& set_;
  std::unordered_map<ObjectNameView, WrittenObject, NameTupleHash> objects_;
  std::map<std::size_t, ReadAgain> texts_;  // by their index in the set
};

}  // namespace sluice::config
