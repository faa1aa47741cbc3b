// A value for each thread that lasts as long as the thread can call the driver.
//
// A thread_local with a destructor does not: at exit() the main thread's are destroyed before the destructors of static
// objects run, and those may release streams and memory. Values of other threads go with their threads; the main
// thread's stays until the process is gone.
#pragma once

#include <pthread.h>

#include <new>

namespace softgpu::runtime {

template <typename T>
class ThreadStorage {
 public:
  ThreadStorage() {
    if (pthread_key_create(&key_, [](void* value) { delete static_cast<T*>(value); }) != 0) throw std::bad_alloc();
  }
  ThreadStorage(const ThreadStorage&) = delete;
  ThreadStorage& operator=(const ThreadStorage&) = delete;

  T& get() {
    if (void* value = pthread_getspecific(key_)) return *static_cast<T*>(value);
    T* value = new T();
    if (pthread_setspecific(key_, value) != 0) {
      delete value;
      throw std::bad_alloc();
    }
    return *value;
  }

 private:
  pthread_key_t key_{};
};

}  // namespace softgpu::runtime
