// Tests steps that read a body of server-sent events while it streams through an exchange.
#include <string>
#include <vector>

#include "proxy/processing/event_body.h"
#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {
namespace {

using processing::EventFate;

/// The last event lacks the empty line at its end, which many clients read all the same.
const std::string kEventStream = "data: a secret one\r\n\r\nevent: x\ndata: two\n\ndata: the last secret";
const std::string kRedacted = "data: -\r\n\r\nevent: x\ndata: two\n\ndata: -\n";
/// kEventStream, encoded by gzip.
const std::string kCodedEventStream(
    "\037\213\010\000\000\000\000\000\002\003\113\111\054\111\264\122\110\124\050\116\115\056\112\055\121\310\317\113"
    "\345\345\342\345\112\055\113\315\053\261\122\250\340\112\001\113\227\224\347\163\301\230\031\251\012\071\211\305"
    "\045\120\015\000\033\005\340\233\077\000\000\000",
    68);

struct Redaction {
  processing::EventBody events{1000};
};

Work redacts() {
  return [](Call& call) {
    return call.state<Redaction>().events.take(*call.body, [](const content::SseEvent& event) {
      const bool secret = event.data && event.data->find("secret") != std::string_view::npos;
      return secret ? EventFate::withData("-") : EventFate::keep();
    });
  };
}

class ProcessEvents : public ProcessorSteps {
 protected:
  void begin() {
    with({step("redact", Phase::kResponseBody, redacts(), {processing::BodyMode::kStreamed, 0, true, true})});
  }
  /// Sends one more request on the same connections, has the backend send these pieces one by one, and returns the body
  /// that the client gets.
  std::string through(const std::vector<std::string>& pieces, bool coded) {
    const std::size_t index = get();
    BackendPeer& backend = rig_->backends.empty() ? accept(0) : *rig_->backends[0];
    const std::size_t request = backend.requests() - 1;
    test::FieldList fields{{"content-type", "text/event-stream"}};
    if (coded) fields.emplace_back("content-encoding", "gzip");
    backend.head(request, {.fields = fields, .body = Body::kUntilEnd});
    for (const std::string& piece : pieces) {
      backend.body(request, piece);
      EXPECT_TRUE(rig_->settle());
      EXPECT_EQ(client_->answer(index).body.find("secret"), std::string::npos);
    }
    backend.finish(request);
    EXPECT_TRUE(rig_->settle());
    EXPECT_TRUE(client_->answer(index).ended);
    return client_->answer(index).body;
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, ProcessEvents,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ProcessEvents, ARedactingStepSeesASecretWhereverTheBodyIsCut) {
  for (const bool coded : {false, true}) {
    SetUp();
    begin();
    const std::string& sent = coded ? kCodedEventStream : kEventStream;
    std::vector<std::string> bytes;
    for (std::size_t cut = 0; cut < sent.size(); ++cut) {
      EXPECT_EQ(through({sent.substr(0, cut), sent.substr(cut)}, coded), kRedacted) << cut;
      bytes.push_back(sent.substr(cut, 1));
    }
    EXPECT_EQ(through(bytes, coded), kRedacted);
    EXPECT_EQ(rig_->exchanges.size(), 0U);
    EXPECT_EQ(rig_->exchanges.bufferRoom().used(), 0U);
  }
}

TEST_P(ProcessEvents, AnEventGoesOnAsSoonAsItIsComplete) {
  begin();
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  backend.head(0, {.body = Body::kUntilEnd});
  backend.body(0, "data: one\n\ndata: sec");
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(client_->answer(index).body, "data: one\n\n");
  backend.body(0, "ret\n\n");
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(client_->answer(index).body, "data: one\n\ndata: -\n\n");
  backend.finish(0);
  expectTold(200, 1);
}

}  // namespace
}  // namespace sluice::exchange
