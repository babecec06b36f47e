// library_reference PART ROUNDS: does for each round what a request cannot do without, in the libraries alone, so that
// perf/load.py can say how many times as much the gateway spends in them. The versions of the libraries, and the code
// that they choose for this processor, cost both the same. callgrind counts what runs inside doRounds().
#include <nghttp2/nghttp2.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>

namespace sluice::perf {
namespace {

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "library_reference: %s failed\n", what);
  std::exit(1);
}

void require(bool good, const char* what) {
  if (!good) fail(what);
}

/// Seals a record of 256 bytes as TLS 1.3 does with AES-128-GCM, and opens it again.
class Records {
 public:
  Records() {
    const std::array<std::uint8_t, 16> key = {1, 2, 3};
    require(EVP_CipherInit_ex(sealing_.get(), EVP_aes_128_gcm(), nullptr, key.data(), nullptr, 1) == 1, "sealing");
    require(EVP_CipherInit_ex(opening_.get(), EVP_aes_128_gcm(), nullptr, key.data(), nullptr, 0) == 1, "opening");
  }

  void round() {
    ++nonce_[0];
    int written = 0;
    transform(sealing_.get(), plain_, sealed_, 1);
    require(EVP_CipherFinal_ex(sealing_.get(), sealed_.data(), &written) == 1 &&
                EVP_CIPHER_CTX_ctrl(sealing_.get(), EVP_CTRL_AEAD_GET_TAG, kTag, tag_.data()) == 1,
            "the tag");
    transform(opening_.get(), sealed_, plain_, 0);
    require(EVP_CIPHER_CTX_ctrl(opening_.get(), EVP_CTRL_AEAD_SET_TAG, kTag, tag_.data()) == 1 &&
                EVP_CipherFinal_ex(opening_.get(), plain_.data(), &written) == 1,
            "the check of the tag");
  }

 private:
  static constexpr int kTag = 16;
  static constexpr int kBytes = 256;
  using Record = std::array<std::uint8_t, kBytes>;
  using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

  void transform(EVP_CIPHER_CTX* context, const Record& from, Record& to, int seals) {
    static constexpr std::array<std::uint8_t, 5> kHeader = {23, 3, 3, 1, 16};
    int written = 0;
    require(EVP_CipherInit_ex(context, nullptr, nullptr, nullptr, nonce_.data(), seals) == 1 &&
                EVP_CipherUpdate(context, nullptr, &written, kHeader.data(), int{kHeader.size()}) == 1 &&
                EVP_CipherUpdate(context, to.data(), &written, from.data(), kBytes) == 1,
            "the cipher");
  }

  Context sealing_{EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free};
  Context opening_{EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free};
  std::array<std::uint8_t, 12> nonce_ = {};
  std::array<std::uint8_t, kTag> tag_ = {};
  Record plain_ = {};
  Record sealed_ = {};
};

nghttp2_nv field(std::string_view name, std::string_view value) {
  // nghttp2 takes pointers to what it does not change.
  return {const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(name.data())),
          const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

/// Sends one request and its response of 100 bytes between two sessions of nghttp2, without a network.
class Http2Requests {
 public:
  Http2Requests() {
    nghttp2_session_callbacks* callbacks = nullptr;
    require(nghttp2_session_callbacks_new(&callbacks) == 0, "nghttp2");
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, answer);
    require(nghttp2_session_server_new(&server_, callbacks, nullptr) == 0, "the server's session");
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, nullptr);
    require(nghttp2_session_client_new(&client_, callbacks, nullptr) == 0, "the client's session");
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(client_, NGHTTP2_FLAG_NONE, nullptr, 0);
    nghttp2_submit_settings(server_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Http2Requests() {
    nghttp2_session_del(client_);
    nghttp2_session_del(server_);
  }
  Http2Requests(const Http2Requests&) = delete;
  Http2Requests& operator=(const Http2Requests&) = delete;

  void round() {
    const std::array request = {field(":method", "GET"), field(":scheme", "https"),
                                field(":authority", "origin.test:8443"), field(":path", "/small"),
                                field("user-agent", "h2load nghttp2/1.52.0")};
    require(nghttp2_submit_request(client_, nullptr, request.data(), request.size(), nullptr, nullptr) > 0,
            "the request");
    move(client_, server_);
    move(server_, client_);
    move(client_, server_);  // SETTINGS acknowledgements and WINDOW_UPDATEs
  }

 private:
  static void move(nghttp2_session* from, nghttp2_session* to) {
    const std::uint8_t* bytes = nullptr;
    for (auto size = nghttp2_session_mem_send(from, &bytes); size != 0; size = nghttp2_session_mem_send(from, &bytes)) {
      require(size > 0 && nghttp2_session_mem_recv(to, bytes, static_cast<std::size_t>(size)) == size, "a frame");
    }
  }

  static int answer(nghttp2_session* session, const nghttp2_frame* frame, void*) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    const std::array response = {field(":status", "200"), field("server", "nginx/1.22.1"),
                                 field("date", "Thu, 01 Jan 1970 00:00:00 GMT"), field("content-type", "text/plain"),
                                 field("content-length", "100")};
    nghttp2_data_provider body = {{0}, readBody};
    return nghttp2_submit_response(session, frame->hd.stream_id, response.data(), response.size(), &body);
  }

  static ssize_t readBody(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t room, std::uint32_t* flags,
                          nghttp2_data_source*, void*) {
    constexpr std::size_t kBody = 100;
    require(room >= kBody, "the body");
    std::fill_n(to, kBody, std::uint8_t{'x'});
    *flags = NGHTTP2_DATA_FLAG_EOF;
    return kBody;
  }

  nghttp2_session* client_ = nullptr;
  nghttp2_session* server_ = nullptr;
};

template <typename Part>
[[gnu::noinline]] void doRounds(Part& part, int rounds) {
  for (int i = 0; i < rounds; ++i) part.round();
}

template <typename Part>
void run(int rounds) {
  Part part;
  for (int i = 0; i < rounds; ++i) part.round();  // fills caches and tables
  doRounds(part, rounds);
}

int measure(std::string_view part, std::string_view count) {
  int rounds = 0;
  require(std::from_chars(count.data(), count.data() + count.size(), rounds).ec == std::errc(), "to read ROUNDS");
  if (part == "records") {
    run<Records>(rounds);
  } else if (part == "http2") {
    run<Http2Requests>(rounds);
  } else {
    fail("to find PART");
  }
  return 0;
}

}  // namespace
}  // namespace sluice::perf

int main(int argc, char** argv) {
  if (argc == 3) return sluice::perf::measure(argv[1], argv[2]);
  std::fputs("usage: library_reference records|http2 ROUNDS\n", stderr);
  return 2;
}
