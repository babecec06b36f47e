// A StatusList has the statuses of a configuration's objects in their order. Two configurations share statuses that are
// equal in both, because thousands of statuses take megabytes.
//
// It is a value that is cheap to copy.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "config/status/conditions.h"

namespace sluice::config {

class StatusList {
 public:
  using Shared = std::shared_ptr<const ObjectStatus>;

  class StatusIterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = ObjectStatus;
    using difference_type = std::ptrdiff_t;
    using pointer = const ObjectStatus*;
    using reference = const ObjectStatus&;

    StatusIterator() = default;
    explicit StatusIterator(const Shared* at) : at_(at) {}
    const ObjectStatus& operator*() const { return **at_; }
    const ObjectStatus* operator->() const { return at_->get(); }
    StatusIterator& operator++() {
      ++at_;
      return *this;
    }
    StatusIterator operator++(int) { return StatusIterator(at_++); }
    bool operator==(const StatusIterator&) const = default;

   private:
    const Shared* at_ = nullptr;
  };

  StatusList() = default;
  StatusList(std::initializer_list<ObjectStatus> statuses) {
    for (const ObjectStatus& each : statuses) push_back(each);
  }

  void reserve(std::size_t count) { statuses_.reserve(count); }
  void push_back(ObjectStatus status) { statuses_.push_back(std::make_shared<const ObjectStatus>(std::move(status))); }
  void replace(std::size_t index, Shared status) { statuses_[index] = std::move(status); }

  StatusIterator begin() const { return StatusIterator(statuses_.data()); }
  StatusIterator end() const { return StatusIterator(statuses_.data() + statuses_.size()); }
  std::size_t size() const { return statuses_.size(); }
  bool empty() const { return statuses_.empty(); }
  const ObjectStatus& operator[](std::size_t index) const { return *statuses_[index]; }
  const ObjectStatus& back() const { return *statuses_.back(); }
  const Shared& shared(std::size_t index) const { return statuses_[index]; }

 private:
  std::vector<Shared> statuses_;
};

}  // namespace sluice::config
