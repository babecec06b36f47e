// Tests the reading of Priority, and the order of responses that clients ask for.
#include "proxy/http/h2/h2_priority.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

TEST(H2Priority, IsReadFromADictionary) {
  struct PriorityRow {
    const char* value;
    int urgency;
    bool incremental;
  };
  for (const PriorityRow& row :
       {PriorityRow{"", 3, false}, PriorityRow{"u=0", 0, false}, PriorityRow{"u=7, i", 7, true},
        PriorityRow{"i,u=1", 1, true}, PriorityRow{"i=?1", 3, true}, PriorityRow{"i, i=?0", 3, false},
        PriorityRow{"u=8", 3, false}, PriorityRow{"u=-1", 3, false}, PriorityRow{"u=10", 3, false},
        PriorityRow{"u=2;x=1, other=?1", 2, false}, PriorityRow{"U=1", 3, false}, PriorityRow{"u", 3, false}}) {
    const http::H2Priority read = http::readPriority(row.value);
    EXPECT_EQ(read.urgency, row.urgency) << row.value;
    EXPECT_EQ(read.incremental, row.incremental) << row.value;
  }
}

TEST(H2Priority, OrdersTheBodiesOfAConnection) {
  base::ChunkPool pool;
  const ManualClock clock;
  RecordingServerSink sink(pool);
  const auto codec = http::makeH2ServerCodec(sink, pool, http::Limits(), http::Scheme::kHttp, clock);
  H2Lines urgent = h2::get("/urgent");
  urgent.emplace_back("priority", "u=0");
  codec->feed(h2::clientHello() + h2::headers(1, h2::get("/plain"), true) + h2::headers(3, urgent, true));
  ASSERT_EQ(sink.count(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    http::ResponseHead head;
    head.status = 200;
    head.body = http::Body::kUntilEnd;
    codec->sendResponse(sink.stream(i).id, head);
    sink.stream(i).response.bytes.append(std::string(100, 'x'));
    sink.stream(i).response.finish();
  }
  H2FrameReader reader;
  reader.feed(produced(*codec, pool));
  std::vector<std::uint32_t> order;
  for (const H2Frame& frame : reader.frames()) {
    if (frame.type == H2Type::kData) order.push_back(frame.stream);
  }
  EXPECT_EQ(order, (std::vector<std::uint32_t>{3, 1}));
}

}  // namespace
}  // namespace sluice::test
