#include "proxy/control/loading_thread.h"

#include <malloc.h>

#include <random>
#include <utility>

namespace sluice::control {
namespace {

// The key is as long as the digest that it protects.
base::Secret newRevisionKey() {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < 32) bytes += static_cast<char>(random() & 0xff);
  return base::Secret(std::move(bytes));
}

/// Returns the objects that metrics of routes, Backends and Gateways may name.
std::unordered_set<std::string> objectsOf(const CompiledConfiguration& configuration) {
  std::unordered_set<std::string> objects;
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    objects.insert(object.nameSpace + "/" + object.name);
  }
  for (const auto& backend : configuration.compiled.snapshot->backends) objects.insert(backend->name);
  return objects;
}

}  // namespace

LoadingThread::LoadingThread(Source& source, const processing::BuiltinTypes& processors, observe::Log& log,
                             net::Worker& main)
    : source_(source), processors_(processors), log_(log), main_(main), revisionKey_(newRevisionKey()), thread_([this] {
        run();
      }) {}

LoadingThread::~LoadingThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void LoadingThread::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void LoadingThread::run() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (ending_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

void LoadingThread::load(const Loaded& served, UnusablePlaces unusable, Done done) {
  post([this, served, unusable = std::move(unusable), done = std::move(done)] {
    // The message must be copyable, so it holds the result by a pointer.
    const auto loaded = std::make_shared<Loaded>(loadNow(served, unusable));
    main_.post([loaded, done] { done(std::move(*loaded)); });
  });
}

void LoadingThread::discard(Loaded&& old) {
  post([old = std::move(old)]() mutable {
    old = {};
    // The freed memory is scattered among memory in use, and free() alone does not return it to the system.
    malloc_trim(0);
  });
}

Loaded LoadingThread::loadNow(const Loaded& served, const UnusablePlaces& unusable) {
  const CompiledConfiguration* before = served.configuration.get();
  const config::Model* model = before == nullptr ? nullptr : &before->model;
  const auto read = std::make_shared<const CompiledConfiguration>(
      makeConfiguration(source_.read(revisionKey_), model, processors_, cache_, unusable));
  if (before != nullptr && read->readable && read->sameAs(*before)) {
    return {Loaded::Outcome::kUnchanged, read, nullptr, {}};
  }
  report(*read);
  if (!read->usable()) return {Loaded::Outcome::kRefused, read, nullptr, "`sluice validate` says more"};
  auto made = maker_.make(read->compiled.snapshot, read->revision, served.generation.get(), objectsOf(*read));
  if (!made.ok()) return {Loaded::Outcome::kRefused, read, nullptr, made.error().detail};
  return {Loaded::Outcome::kServable, read, std::move(*made), {}};
}

void LoadingThread::report(const CompiledConfiguration& configuration) {
  for (const config::Problem& problem : configuration.problems) log_.error(config::render(problem));
  std::set<std::string> unhealthy;
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    if (!config::isHealthy(object)) unhealthy.insert(config::objectStatusJson(object));
  }
  for (const std::string& status : unhealthy) {
    if (!reported_.contains(status)) log_.warn("object is not fully served", {{"status", status}});
  }
  reported_ = std::move(unhealthy);
}

}  // namespace sluice::control
