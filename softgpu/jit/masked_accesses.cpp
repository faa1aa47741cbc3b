#include "softgpu/jit/masked_accesses.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace softgpu::jit {
namespace {

constexpr unsigned kWordBits = 32;
constexpr std::uint64_t kLargestElement = 16;

// A call of one of llvm.masked.{load,store,gather,scatter}, whose arguments are in no common order.
struct MaskedAccess {
  explicit MaskedAccess(llvm::IntrinsicInst& intrinsic) : call(&intrinsic) {
    using namespace llvm;
    const Intrinsic::ID id = intrinsic.getIntrinsicID();
    is_load = id == Intrinsic::masked_load || id == Intrinsic::masked_gather;
    is_contiguous = id == Intrinsic::masked_load || id == Intrinsic::masked_store;
    const unsigned first = is_load ? 0 : 1;
    address = intrinsic.getArgOperand(first);
    alignment = cast<ConstantInt>(intrinsic.getArgOperand(first + 1))->getMaybeAlignValue().valueOrOne();
    mask = intrinsic.getArgOperand(first + 2);
    value = intrinsic.getArgOperand(is_load ? 3 : 0);
    type = cast<FixedVectorType>(value->getType());
  }

  llvm::IntrinsicInst* call;
  bool is_load, is_contiguous;
  llvm::Value *address, *mask;
  llvm::Value* value;  // what is stored; what lanes that are off get from a load
  llvm::Align alignment;
  llvm::FixedVectorType* type;
};

bool is_masked_access(const llvm::Instruction& instruction) {
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!intrinsic) return false;
  switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_gather:
    case llvm::Intrinsic::masked_scatter: return true;
    default: return false;
  }
}

class Expansion {
 public:
  Expansion(llvm::Function& function, const llvm::TargetTransformInfo& cpu) : function_(function), cpu_(cpu) {}

  void run() {
    llvm::SmallVector<llvm::IntrinsicInst*, 16> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (is_masked_access(instruction)) calls.push_back(llvm::cast<llvm::IntrinsicInst>(&instruction));
    for (llvm::IntrinsicInst* call : calls)
      if (const MaskedAccess access(*call); is_to_be_expanded(access)) expand(access);
  }

 private:
  // A mask that is known needs no branches.
  bool is_to_be_expanded(const MaskedAccess& access) const {
    const llvm::DataLayout& layout = function_.getDataLayout();
    llvm::Type* element = access.type->getElementType();
    if (llvm::isa<llvm::Constant>(access.mask) || is_possible(access)) return false;
    return layout.getTypeSizeInBits(element) == layout.getTypeAllocSizeInBits(element) &&
           layout.getTypeAllocSize(element) <= kLargestElement;
  }

  bool is_possible(const MaskedAccess& access) const {
    if (access.is_contiguous)
      return access.is_load ? cpu_.isLegalMaskedLoad(access.type, access.alignment)
                            : cpu_.isLegalMaskedStore(access.type, access.alignment);
    if (access.is_load) return can_gather(access.type, access.alignment);
    return cpu_.isLegalMaskedScatter(access.type, access.alignment) &&
           !cpu_.forceScalarizeMaskedScatter(access.type, access.alignment);
  }

  bool can_gather(llvm::FixedVectorType* type, llvm::Align alignment) const {
    return cpu_.isLegalMaskedGather(type, alignment) && !cpu_.forceScalarizeMaskedGather(type, alignment);
  }

  void expand(const MaskedAccess& access) {
    llvm::IRBuilder<> ir(access.call);
    if (access.is_load) {
      llvm::Value* loaded = can_gather_words(access) ? pick_from_words(ir, access) : load(ir, access);
      if (!llvm::isa<llvm::UndefValue>(access.value)) loaded = ir.CreateSelect(access.mask, loaded, access.value);
      access.call->replaceAllUsesWith(loaded);
    } else {
      store(ir, access);
    }
    access.call->eraseFromParent();
  }

  static llvm::FixedVectorType* words(llvm::IRBuilder<>& ir, const MaskedAccess& access) {
    return llvm::FixedVectorType::get(ir.getInt32Ty(), access.type->getNumElements());
  }

  bool can_gather_words(const MaskedAccess& access) const {
    llvm::IRBuilder<> ir(access.call);
    return !access.is_contiguous && access.type->getScalarSizeInBits() < kWordBits &&
           can_gather(words(ir, access), llvm::Align(kWordBits / 8));
  }

  // An aligned word lies in one page, so that it can be read where a part of it can. PTX wants 16-bit values aligned,
  // so that none lies in two words.
  llvm::Value* pick_from_words(llvm::IRBuilder<>& ir, const MaskedAccess& access) {
    llvm::FixedVectorType* type = words(ir, access);
    llvm::Type* addresses = llvm::FixedVectorType::get(ir.getInt64Ty(), type->getNumElements());
    llvm::Value* aligned = ir.CreateIntrinsic(llvm::Intrinsic::ptrmask, {access.address->getType(), addresses},
                                              {access.address, llvm::ConstantInt::getSigned(addresses, -4)});
    llvm::Value* word = ir.CreateMaskedGather(type, aligned, llvm::Align(kWordBits / 8), access.mask);
    llvm::Value* address = ir.CreateTrunc(ir.CreatePtrToInt(access.address, addresses), type);
    llvm::Value* distance = ir.CreateAnd(ir.CreateShl(address, 3), kWordBits - 1);
    llvm::Value* picked = ir.CreateTrunc(ir.CreateLShr(word, distance), llvm::VectorType::getInteger(access.type));
    return ir.CreateBitCast(picked, access.type);
  }

  llvm::Value* load(llvm::IRBuilder<>& ir, const MaskedAccess& access) {
    llvm::Value* addresses = addresses_of(ir, access);
    llvm::Value* loaded = llvm::PoisonValue::get(access.type);
    for (unsigned lane = 0; lane < access.type->getNumElements(); ++lane) {
      llvm::Value* element = ir.CreateAlignedLoad(access.type->getElementType(),
                                                  ir.CreateExtractElement(addresses, lane), access.alignment);
      loaded = ir.CreateInsertElement(loaded, element, lane);
    }
    return loaded;
  }

  // Where several lanes write one place, the last one's value stays.
  void store(llvm::IRBuilder<>& ir, const MaskedAccess& access) {
    llvm::Value* addresses = addresses_of(ir, access);
    for (unsigned lane = 0; lane < access.type->getNumElements(); ++lane)
      ir.CreateAlignedStore(ir.CreateExtractElement(access.value, lane), ir.CreateExtractElement(addresses, lane),
                            access.alignment);
  }

  llvm::Value* addresses_of(llvm::IRBuilder<>& ir, const MaskedAccess& access) {
    llvm::Value* addresses = access.address;
    const unsigned lanes = access.type->getNumElements();
    if (access.is_contiguous) {
      llvm::SmallVector<llvm::Constant*, 32> numbers;
      for (unsigned lane = 0; lane < lanes; ++lane) numbers.push_back(ir.getInt64(lane));
      addresses = ir.CreateGEP(access.type->getElementType(), addresses, llvm::ConstantVector::get(numbers));
    }
    return ir.CreateSelect(access.mask, addresses, ir.CreateVectorSplat(lanes, nowhere()));
  }

  // Nobody looks at what is there.
  llvm::AllocaInst* nowhere() {
    if (!nowhere_) {
      llvm::IRBuilder<> ir(&function_.getEntryBlock(), function_.getEntryBlock().begin());
      nowhere_ = ir.CreateAlloca(llvm::ArrayType::get(ir.getInt8Ty(), kLargestElement), nullptr, "nowhere");
      nowhere_->setAlignment(llvm::Align(kLargestElement));
    }
    return nowhere_;
  }

  llvm::Function& function_;
  const llvm::TargetTransformInfo& cpu_;
  llvm::AllocaInst* nowhere_ = nullptr;
};

}  // namespace

void expand_masked_accesses(llvm::Module& code, const llvm::TargetMachine& target) {
  for (llvm::Function& function : code)
    if (!function.isDeclaration()) Expansion(function, target.getTargetTransformInfo(function)).run();
}

}  // namespace softgpu::jit
