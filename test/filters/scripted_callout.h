// A callout that keeps its request, and answers as a test scripts it once the request has ended.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "test/support/no_services.h"

namespace sluice::test {

class ScriptedCallout final : public FailedCallout {
 public:
  using FieldPairs = std::initializer_list<std::pair<const char*, const char*>>;

  ScriptedCallout(std::uint16_t status, FieldPairs fields, const std::string& body) {
    answer_.head.status = status;
    for (const auto& [name, value] : fields) answer_.head.headers.add(answer_.arena, name, value);
    bytes_.append(body);
  }

  void take(const http::RequestHead& head) {
    asked_.head = http::clone(asked_.arena, head);
    ended_ = head.body == http::Body::kNone;
  }
  const http::RequestHead& asked() const { return asked_.head; }
  const std::string& sent() const { return sent_; }

  void send(std::string_view bytes) override { sent_ += bytes; }
  void end() override { ended_ = true; }
  void await(processing::Resumer /*resumer*/, Moment) override {}
  void cancel() override {}
  const http::ResponseHead* head() const override { return ended_ ? &answer_.head : nullptr; }
  const base::ByteQueue& received() const override { return ended_ ? bytes_ : nothing_; }
  void take(std::size_t count) override { bytes_.consume(count); }
  bool over() const override { return ended_; }
  const std::optional<base::Error>& error() const override { return none_; }

 private:
  base::ChunkPool pool_;
  http::RequestMessage asked_{pool_};
  http::ResponseMessage answer_{pool_};
  base::ByteQueue bytes_{pool_};
  base::ByteQueue nothing_{pool_};
  std::string sent_;
  bool ended_ = false;
  const std::optional<base::Error> none_;
};

}  // namespace sluice::test
