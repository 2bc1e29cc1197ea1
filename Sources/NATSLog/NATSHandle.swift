/// A pointer to an object of libnats.
///
/// `@unchecked`, because the compiler can't check that libnats guards each of its objects with a lock, so that several
/// threads may use it.
struct NATSHandle: @unchecked Sendable {
    let pointer: OpaquePointer
}
