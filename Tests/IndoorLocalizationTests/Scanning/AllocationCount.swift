import Glibc
import Synchronization
import XCTest

/// Counts the heap objects of Swift that this thread allocates: arrays, boxes, closures' contexts, classes.
///
/// The runtime calls its allocation through a variable once a flag is set; both are there for measuring tools
/// (swift/stdlib/public/runtime/InstrumentsSupport.h). Memory that code allocates by pointer is not counted. One
/// measurement at a time, as XCTest runs its tests.
enum AllocationCount {
    private typealias Allocate = @convention(c) (UnsafeRawPointer?, Int, Int) -> UnsafeMutableRawPointer?

    /// The runtime's own allocation.
    private static let original = Atomic<UInt>(0)
    /// The thread that is measured, and what it has allocated.
    private static let thread = Atomic<UInt>(0)
    private static let count = Atomic<Int>(0)

    /// How many objects `body` allocates on this thread.
    static func during(_ body: () -> Void) throws -> Int {
        let function = try symbol("_swift_allocObject").assumingMemoryBound(to: Allocate.self)
        let flag = try symbol("_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly")
            .assumingMemoryBound(to: UInt8.self)
        let own = function.pointee
        original.store(unsafeBitCast(own, to: UInt.self), ordering: .sequentiallyConsistent)
        thread.store(pthread_self(), ordering: .sequentiallyConsistent)
        count.store(0, ordering: .sequentiallyConsistent)
        function.pointee = { metadata, size, mask in
            // Nothing here may allocate an object: it would be counted without end.
            if AllocationCount.thread.load(ordering: .relaxed) == pthread_self() {
                AllocationCount.count.add(1, ordering: .relaxed)
            }
            let own = unsafeBitCast(AllocationCount.original.load(ordering: .relaxed), to: Allocate.self)
            return own(metadata, size, mask)
        }
        flag.pointee = 1
        body()
        flag.pointee = 0
        function.pointee = own
        return count.load(ordering: .sequentiallyConsistent)
    }

    private static func symbol(_ name: String) throws -> UnsafeMutableRawPointer {
        try XCTUnwrap(dlsym(nil, name), "the Swift runtime has no \(name)")
    }
}
