//! Sizes and alignments of types, as nvcc and the Itanium C++ ABI lay them out on 64-bit Linux.
//!
//! Whatever depends on something out of sight has no layout: an unknown size hides findings, a wrong one makes them.

use crate::crowd::Entry;
use crate::scope::{Context, inner_path};
use crate::types::{Argument, Ty, TypeEnv};
use cudalint_numbers::Quantity;

/// Size and alignment in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// `sizeof`.
    pub size: i64,
    /// `alignof`.
    pub align: i64,
}

impl Layout {
    /// Of these many bytes.
    pub const fn new(size: i64, align: i64) -> Self {
        Self { size, align }
    }

    const fn scalar(bytes: i64) -> Self {
        Self::new(bytes, bytes)
    }
}

const POINTER: Layout = Layout::scalar(8);

/// A record while its parts are placed.
#[derive(Clone, Copy, Debug)]
pub struct Placer {
    size: i64,
    align: i64,
    union: bool,
}

impl Placer {
    /// An empty record.
    pub const fn new(union: bool) -> Self {
        Self { size: 0, align: 1, union }
    }

    /// Places a part and gives its offset.
    pub fn place(&mut self, part: Layout) -> Option<i64> {
        let align = part.align.max(1);
        self.align = self.align.max(align);
        if self.union {
            self.size = self.size.max(part.size);
            return Some(0);
        }
        let offset = round_up(self.size, align)?;
        self.size = offset.checked_add(part.size)?;
        Some(offset)
    }

    /// The finished record: at least one byte, rounded up to its alignment.
    pub fn finish(self, align: Option<i64>) -> Option<Layout> {
        let align = self.align.max(align.unwrap_or(1));
        Some(Layout::new(round_up(self.size.max(1), align)?, align))
    }
}

fn round_up(size: i64, align: i64) -> Option<i64> {
    if align <= 0 {
        return None;
    }
    Some(size.checked_add(align - 1)? / align * align)
}

/// The layout of a CUDA vector type or `dim3`, by the bytes of a lane and their number
/// (`vector_types.h`: two and four lanes are aligned to their whole size, at most 16; three to one lane).
pub fn vector(bytes: i64, lanes: i64) -> Option<Layout> {
    let align = match lanes {
        1 | 3 => bytes,
        2 | 4 => (bytes * lanes).min(16),
        _ => return None,
    };
    Some(Layout::new(bytes.checked_mul(lanes)?, align))
}

/// The layout of a type of the C and C++ libraries or of CUDA, by its name as written; of a template with the layout
/// of its first argument.
pub fn library(name: &str, first: Option<Layout>) -> Option<Layout> {
    let plain = name.strip_prefix("cuda::std::").or_else(|| name.strip_prefix("std::")).unwrap_or(name);
    if let Some(first) = first {
        return match name {
            "std::complex" => Some(Layout::new(first.size * 2, first.align)),
            "thrust::complex" | "cuda::std::complex" => Some(Layout::scalar(first.size * 2)),
            "std::atomic" | "cuda::atomic" | "cuda::std::atomic" if matches!(first.size, 1 | 2 | 4 | 8) => {
                Some(Layout::scalar(first.size))
            }
            "std::unique_ptr" | "thrust::device_ptr" => Some(POINTER),
            "std::shared_ptr" | "std::weak_ptr" => Some(Layout::new(16, 8)),
            // libstdc++
            "std::vector" if first.size > 0 => Some(Layout::new(24, 8)),
            _ => None,
        };
    }
    match plain {
        "cudaStream_t"
        | "cudaEvent_t"
        | "hipStream_t"
        | "hipEvent_t"
        | "cudaGraph_t"
        | "cudaGraphExec_t"
        | "cudaGraphNode_t"
        | "cudaArray_t"
        | "cudaMipmappedArray_t"
        | "cudaMemPool_t"
        | "cudaExternalMemory_t"
        | "cudaExternalSemaphore_t"
        | "cudaFunction_t"
        | "cudaKernel_t"
        | "cudaLibrary_t"
        | "cudaUserObject_t"
        | "cudaGraphicsResource_t"
        | "cublasHandle_t"
        | "cublasLtHandle_t"
        | "cublasXtHandle_t"
        | "cusparseHandle_t"
        | "cusparseMatDescr_t"
        | "cusolverDnHandle_t"
        | "cusolverSpHandle_t"
        | "cusolverRfHandle_t"
        | "cudnnHandle_t"
        | "cudnnTensorDescriptor_t"
        | "cudnnFilterDescriptor_t"
        | "cudnnConvolutionDescriptor_t"
        | "curandGenerator_t"
        | "ncclComm_t"
        | "nvrtcProgram"
        | "CUstream"
        | "CUevent"
        | "CUmodule"
        | "CUfunction"
        | "CUcontext"
        | "CUarray"
        | "CUtexref"
        | "CUsurfref"
        | "CUgraph"
        | "CUgraphExec"
        | "CUkernel"
        | "CUlibrary"
        | "CUmemoryPool"
        | "CUlinkState"
        | "CUmipmappedArray" => Some(POINTER),
        "CUdeviceptr"
        | "CUtexObject"
        | "CUsurfObject"
        | "cudaTextureObject_t"
        | "cudaSurfaceObject_t"
        | "time_t"
        | "clock_t"
        | "off_t"
        | "pthread_t"
        | "nullptr_t"
        | "streamsize"
        | "streamoff"
        | "uint_fast32_t"
        | "int_fast32_t"
        | "uint_fast64_t"
        | "int_fast64_t"
        | "uint_fast16_t"
        | "int_fast16_t"
        | "cufftDoubleReal" => Some(Layout::scalar(8)),
        "cudaError_t" | "cudaError" | "CUresult" | "cudaMemcpyKind" | "cublasStatus_t" | "cublasOperation_t"
        | "cudaDataType_t" | "cudaDataType" | "cusparseStatus_t" | "cusolverStatus_t" | "cudnnStatus_t"
        | "curandStatus_t" | "cufftResult" | "cufftType" | "cufftHandle" | "ncclResult_t" | "ncclDataType_t"
        | "nvrtcResult" | "CUdevice" | "cufftReal" | "clockid_t" | "pid_t" | "uid_t" | "mode_t" | "cudaDeviceAttr"
        | "cudaFuncAttribute" | "cudaLimit" | "int_least32_t" | "uint_least32_t" | "wint_t" => Some(Layout::scalar(4)),
        "cuComplex" | "cuFloatComplex" | "cufftComplex" => Some(Layout::scalar(8)),
        "cuDoubleComplex" | "cufftDoubleComplex" => Some(Layout::scalar(16)),
        "int_least64_t" | "uint_least64_t" => Some(Layout::scalar(8)),
        "int_fast8_t" | "uint_fast8_t" | "int_least8_t" | "uint_least8_t" | "byte" | "__nv_fp8_e4m3"
        | "__nv_fp8_e5m2" | "__nv_fp8_storage_t" => Some(Layout::scalar(1)),
        "__half_raw" | "__nv_bfloat16_raw" | "int_least16_t" | "uint_least16_t" => Some(Layout::scalar(2)),
        "__int128" | "__int128_t" | "__uint128_t" => Some(Layout::scalar(16)),
        // curand_kernel.h
        "curandState" | "curandState_t" | "curandStateXORWOW" | "curandStateXORWOW_t" => Some(Layout::new(48, 8)),
        "curandStatePhilox4_32_10" | "curandStatePhilox4_32_10_t" => Some(Layout::new(64, 16)),
        // driver_types.h
        "cudaExtent" | "cudaPos" => Some(Layout::new(24, 8)),
        "cudaPitchedPtr" => Some(Layout::new(32, 8)),
        "cudaChannelFormatDesc" => Some(Layout::new(20, 4)),
        "timeval" | "timespec" => Some(Layout::new(16, 8)),
        // libstdc++
        "string" if name != "string" => Some(Layout::new(32, 8)),
        _ => None,
    }
}

impl Context<'_> {
    /// Size and alignment of a resolved type.
    pub fn layout(&self, ty: &Ty) -> Option<Layout> {
        self.budget.deeper(|| self.layout_inner(ty))?
    }

    fn layout_inner(&self, ty: &Ty) -> Option<Layout> {
        match ty {
            Ty::Bool => Some(Layout::scalar(1)),
            Ty::Int { bytes, .. } | Ty::Float { bytes } | Ty::Enum { bytes, .. } => {
                Some(Layout::scalar(i64::from(*bytes)))
            }
            Ty::Vector { lane, lanes, .. } => vector(i64::from(lane.bytes()), i64::from(*lanes)),
            Ty::Pointer(_) => Some(POINTER),
            // `sizeof` of a reference is that of its target; a field is placed as a pointer.
            Ty::Reference(to) => self.layout(to),
            Ty::Array(of, count) => {
                let element = self.layout(of)?;
                Some(Layout::new(element.size.checked_mul(count.known()?)?, element.align))
            }
            Ty::Record(entry, env) => self.record_layout(*entry, env, None, &mut |_| {}).map(|(layout, _)| layout),
            Ty::Library(name, args) => self.library_layout(name, args),
            Ty::Void | Ty::Function | Ty::Auto | Ty::Unknown => None,
        }
    }

    fn library_layout(&self, name: &str, args: &[Argument]) -> Option<Layout> {
        match args {
            [] => library(name, None),
            [Argument::Type(first), rest @ ..] => {
                let element = self.layout(first)?;
                match (name, rest) {
                    ("std::array" | "cuda::std::array" | "array", [Argument::Value(Quantity::Known(count))])
                        if *count > 0 =>
                    {
                        Some(Layout::new(element.size.checked_mul(*count)?, element.align))
                    }
                    ("std::pair" | "thrust::pair" | "cuda::std::pair", [Argument::Type(second)]) => {
                        let mut placer = Placer::new(false);
                        placer.place(element)?;
                        placer.place(self.layout(second)?)?;
                        placer.finish(None)
                    }
                    (_, []) => library(name, Some(element)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The layout of a record, and the offset of a field when it is asked for; the offsets of its own fields are handed
    /// out in order.
    fn record_layout(
        &self,
        entry: Entry,
        env: &TypeEnv,
        field: Option<&str>,
        each: &mut dyn FnMut(i64),
    ) -> Option<(Layout, Option<i64>)> {
        let record = self.project.record_at(entry)?;
        if !record.defined {
            return None;
        }
        let inside = inner_path(&record.scope, &record.name);
        let here = self.at(entry.module, &inside, env);
        let mut placer = Placer::new(record.is_union);
        let mut offset = None;
        let mut inherited_table = false;
        for (index, base) in record.bases.iter().enumerate() {
            let Ty::Record(base, base_env) = here.resolve(*base) else { return None };
            let found = self.project.record_at(base)?;
            // An empty base takes no room. The tail of a base that is no plain data may hold the next member.
            if found.fields.is_empty() && found.bases.is_empty() && !found.has_virtual {
                continue;
            }
            let (layout, inner) = self.budget.deeper(|| self.record_layout(base, &base_env, field, &mut |_| {}))??;
            // Without methods, bases and virtual functions it is plain data (Itanium C++ ABI, "POD for the purpose of layout").
            let is_plain = found.methods.is_empty() && found.bases.is_empty() && !found.has_virtual;
            if !is_plain && self.has_tail_padding(base, &base_env, layout)? {
                return None;
            }
            inherited_table |= index == 0 && self.has_table(base, &base_env);
            let at = placer.place(layout)?;
            offset = offset.or(inner.map(|inner| at + inner));
        }
        if record.has_virtual && !inherited_table {
            if !record.bases.is_empty() {
                // The table pointer comes before the bases.
                return None;
            }
            placer.place(POINTER)?;
        }
        for (index, variable) in record.fields.iter().enumerate() {
            let ty = here.resolve(variable.ty);
            let layout = match &ty {
                Ty::Reference(_) => POINTER,
                // A flexible array member.
                Ty::Array(of, Quantity::Unknown) if index + 1 == record.fields.len() && index > 0 => {
                    Layout::new(0, here.layout(of)?.align)
                }
                ty => here.layout(ty)?,
            };
            let at = placer.place(layout)?;
            each(at);
            if field.is_some_and(|field| variable.name == *field) {
                offset = Some(at);
            }
            if variable.name.is_empty()
                && let (Ty::Record(inner, inner_env), Some(name)) = (&ty, field)
                && let Some((_, Some(inner))) =
                    self.budget.deeper(|| self.record_layout(*inner, inner_env, Some(name), &mut |_| {}))?
            {
                offset = offset.or(Some(at + inner));
            }
        }
        let align = match record.align {
            Some(align) => Some(here.eval(align)?.as_i64()?),
            None => None,
        };
        Some((placer.finish(align)?, offset))
    }

    /// Whether the record's own members end before its size.
    fn has_tail_padding(&self, entry: Entry, env: &TypeEnv, layout: Layout) -> Option<bool> {
        let record = self.project.record_at(entry)?;
        let Some(last) = record.fields.last() else { return Some(false) };
        let inside = inner_path(&record.scope, &record.name);
        let here = self.at(entry.module, &inside, env);
        let size = match here.resolve(last.ty) {
            Ty::Reference(_) => 8,
            ty => here.layout(&ty)?.size,
        };
        let offset = if last.name.is_empty() { return Some(true) } else { self.field_offset(entry, env, &last.name)? };
        Some(offset + size != layout.size)
    }

    /// Whether objects of the record begin with a pointer to a table of virtual functions.
    fn has_table(&self, entry: Entry, env: &TypeEnv) -> bool {
        let Some(record) = self.project.record_at(entry) else { return false };
        if record.has_virtual {
            return true;
        }
        let inside = inner_path(&record.scope, &record.name);
        let here = self.at(entry.module, &inside, env);
        record.bases.first().is_some_and(|base| match here.resolve(*base) {
            Ty::Record(base, env) => self.budget.deeper(|| self.has_table(base, &env)).unwrap_or(false),
            _ => false,
        })
    }

    /// Byte offset of a field of a record.
    pub fn field_offset(&self, entry: Entry, env: &TypeEnv, field: &str) -> Option<i64> {
        self.budget.deeper(|| self.record_layout(entry, env, Some(field), &mut |_| {}))??.1
    }

    /// Byte offsets of a record's own fields in order, those of its bases excluded.
    pub fn field_offsets(&self, entry: Entry, env: &TypeEnv) -> Option<Vec<i64>> {
        let mut offsets = Vec::new();
        self.budget.deeper(|| self.record_layout(entry, env, None, &mut |at| offsets.push(at)))??;
        Some(offsets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_types_as_in_vector_types_h() {
        for (bytes, lanes, size, align) in [
            (4, 3, 12, 4),
            (4, 4, 16, 16),
            (4, 2, 8, 8),
            (1, 4, 4, 4),
            (1, 3, 3, 1),
            (8, 2, 16, 16),
            (8, 4, 32, 16),
            (8, 3, 24, 8),
            (2, 2, 4, 4),
            (4, 1, 4, 4),
        ] {
            assert_eq!(vector(bytes, lanes), Some(Layout::new(size, align)), "{bytes} x {lanes}");
        }
    }

    #[test]
    fn parts_are_placed_at_their_alignment() {
        let mut placer = Placer::new(false);
        let offsets: Vec<_> =
            [(1, 1), (8, 8), (2, 2), (12, 4)].iter().map(|(s, a)| placer.place(Layout::new(*s, *a))).collect();
        assert_eq!(offsets, [0, 8, 16, 20].map(Some));
        assert_eq!(placer.finish(None), Some(Layout::new(32, 8)));
        assert_eq!(Placer::new(false).finish(None), Some(Layout::new(1, 1)));
        assert_eq!(Placer::new(false).finish(Some(16)), Some(Layout::new(16, 16)));
    }

    #[test]
    fn sizes_that_overflow_are_none() {
        let mut placer = Placer::new(false);
        assert_eq!(placer.place(Layout::new(i64::MAX, 1)), Some(0));
        assert_eq!(placer.place(Layout::new(8, 8)), None);
    }
}
