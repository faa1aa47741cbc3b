// What other bindings need of object code.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "bindings/common.hpp"

namespace cuprum::python {

/// Object code as Python has it: what a caller gave, of which the library's object is made by the first use that needs
/// that one, or the library's object that a compiler or linker made. So a path is read, and code is looked at, when it
/// is used, as in cuda.core.
class PythonObjectCode {
 public:
  /// What `given` is: bytes with the code, or a str with the path of a file that has it.
  PythonObjectCode(nb::object given, Target type, std::string name, nb::dict symbol_mapping);
  /// What a compiler or linker made.
  explicit PythonObjectCode(ObjectCode made);

  /// The library's object. Gives the GIL up while it is made.
  ObjectCode get() const;

  /// Bytes, or the path.
  nb::object code() const;
  Target type() const { return type_; }
  const std::string& name() const { return name_; }
  /// As given, or of str -> bytes.
  const nb::dict& symbol_mapping() const { return symbol_mapping_; }
  /// Whether a caller gave code or a path: then there is nothing but that.
  bool is_given() const { return given_.is_valid(); }

 private:
  struct Made {
    std::mutex mutex;
    std::optional<ObjectCode> code;
    nb::ft_mutex bytes_mutex;
    nb::object bytes;  ///< of code that nobody gave, from when they are first asked for
  };

  nb::object given_;
  Target type_;
  std::string name_;
  nb::dict symbol_mapping_;
  std::unique_ptr<Made> made_ = std::make_unique<Made>();
};

/// The Python object of code that a compiler or linker made.
nb::object object_code_object(ObjectCode made);

/// A kind of code by its name, in upper or lower case; `what` begins the message of the TypeError or ValueError.
Target target_from(nb::handle given, const char* what);
/// The member of cuprum.typing.ObjectCodeFormatType; a str for what has none.
nb::object target_object(Target target);

/// The text of a str or of bytes; TypeError with `what` for what else.
std::string text_from(nb::handle given, const char* what);
/// The path that a str or an os.PathLike stands for.
std::string path_from(nb::handle given);

}  // namespace cuprum::python
