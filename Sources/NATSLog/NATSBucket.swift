import CNATS
import IndoorVocabulary
import TagTracking

/// A bucket of keys and values with revisions.
final class NATSBucket: Sendable {
    /// A value with its revision.
    struct Entry: Hashable, Sendable {
        var key: String
        var value: [UInt8]
        var revision: UInt64
        /// The time of the write by the server's clock, in nanoseconds since 1970.
        var writtenAt: Int64
    }

    private let connection: NATSConnection
    private let store: NATSHandle
    let name: String

    /// Opens a bucket.
    ///
    /// - Throws: `.misconfigured` if it doesn't exist.
    init(_ connection: NATSConnection, name: String) async throws(FleetStoreError) {
        self.connection = connection
        self.name = name
        let context = connection.context
        store = try await connection.blocking(key: "the bucket \(name)") { () throws(NATSFailure) in
            var store: OpaquePointer?
            let status = js_KeyValue(&store, context.pointer, name)
            guard status == NATS_OK, let store else { throw NATSFailure(status) }
            return NATSHandle(pointer: store)
        }
    }

    deinit { kvStore_Destroy(store.pointer) }

    /// Returns the value of a key; nil if it doesn't exist or has expired.
    func value(of key: String) async throws(FleetStoreError) -> Entry? {
        let store = store
        return try await connection.blocking(key: "\(name)/\(key)") { () throws(NATSFailure) in
            var entry: OpaquePointer?
            let status = kvStore_Get(&entry, store.pointer, key)
            if status == NATS_NOT_FOUND { return nil }
            guard status == NATS_OK, let entry else { throw NATSFailure(status) }
            defer { kvEntry_Destroy(entry) }
            return Entry(entry)
        }
    }

    /// Writes a value.
    ///
    /// - Parameter condition: the revision that the write replaces, `.absent`, or `.any`.
    /// - Returns: the new revision.
    func write(_ value: [UInt8], key: String, _ condition: Condition) async throws(FleetStoreError) -> UInt64 {
        let (context, subject) = (connection.context, "$KV.\(name).\(key)")
        return try await connection.blocking(key: "\(name)/\(key)", bytes: value.count) { () throws(NATSFailure) in
            var options = jsPubOptions()
            try NATSFailure.check(jsPubOptions_Init(&options))
            switch condition {
            case .revision(let revision): options.ExpectLastSubjectSeq = revision
            case .absent: options.ExpectNoMessage = true
            case .any: break
            }
            var code = jsErrCode(0)
            var acknowledgement: UnsafeMutablePointer<jsPubAck>?
            let status = js_Publish(
                &acknowledgement, context.pointer, subject, value, Int32(value.count), &options, &code)
            guard status == NATS_OK, let acknowledgement else { throw NATSFailure(status, code: code) }
            defer { jsPubAck_Destroy(acknowledgement) }
            return acknowledgement.pointee.Sequence
        }
    }

    /// The condition of a write.
    enum Condition: Hashable, Sendable {
        case revision(UInt64)
        case absent
        case any
    }

    /// The number of times that the connection was made again.
    var generation: Int { connection.generation }

    /// Returns a reader of the current values and the changes.
    func watcher(waitingFor milliseconds: Int64) throws(NATSFailure) -> NATSWatcher {
        try NATSWatcher(connection.context, bucket: name, until: milliseconds)
    }

    /// Returns all values that have not expired.
    func all() async throws(FleetStoreError) -> [Entry] {
        let (context, name) = (connection.context, name)
        return try await connection.blocking(key: "the bucket \(name)") { () throws(NATSFailure) in
            let watcher = try NATSWatcher(context, bucket: name, until: NATSConnection.requestTime)
            var entries: [Entry] = []
            while let entry = try watcher.next() { entries.append(entry) }
            return entries
        }
    }
}

extension NATSBucket.Entry {
    /// Copies an entry.
    fileprivate init(_ entry: OpaquePointer) {
        key = kvEntry_Key(entry).map { String(cString: $0) } ?? ""
        value = [UInt8](UnsafeRawBufferPointer(start: kvEntry_Value(entry), count: Int(kvEntry_ValueLen(entry))))
        revision = kvEntry_Revision(entry)
        writtenAt = kvEntry_Created(entry)
    }
}
