/// A pointer to an object of libnats.
///
/// `@unchecked`, since the compiler can't know that libnats guards each of its objects with a lock of its own, so that
/// several threads may use one.
struct NATSHandle: @unchecked Sendable {
    let pointer: OpaquePointer
}
