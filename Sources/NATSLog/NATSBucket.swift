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

    /// The time without a value after which the bucket requests each missing value separately.
    private static let patience = Duration.milliseconds(200)

    let connection: NATSConnection
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
            try Self.value(of: key, in: store)
        }
    }

    private static func value(of key: String, in store: NATSHandle) throws(NATSFailure) -> Entry? {
        var entry: OpaquePointer?
        let status = kvStore_Get(&entry, store.pointer, key)
        if status == NATS_NOT_FOUND { return nil }
        guard status == NATS_OK, let entry else { throw NATSFailure(status) }
        defer { kvEntry_Destroy(entry) }
        return Entry(entry)
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

    /// The name of the stream with the values.
    private var stream: String { "KV_\(name)" }
    /// The part of a subject before the key.
    private var prefix: String { "$KV.\(name)." }

    /// Returns a reader of the current values, and of the changes after them. This function blocks.
    func subscribe() throws(NATSFailure) -> OrderedSubscription {
        try OrderedSubscription(connection, stream: stream, subject: prefix + ">") {
            $0.DeliverPolicy = js_DeliverLastPerSubject
        }
    }

    /// Returns the key and the entry of a message; no entry if it deletes the value.
    func entry(_ message: borrowing OrderedMessage) -> (key: String, entry: Entry?) {
        let key = String(message.subject.dropFirst(prefix.count))
        guard message.header("KV-Operation") == nil else { return (key, nil) }
        return (
            key,
            Entry(key: key, value: message.bytes, revision: message.sequence, writtenAt: message.storedAt)
        )
    }

    /// Returns all values that have not expired, in the order of their writes.
    func all() async throws(FleetStoreError) -> [Entry] {
        try await connection.blocking(key: "the bucket \(name)") { [self] () throws(NATSFailure) in
            var missing = try keys()
            guard !missing.isEmpty else { return [] }
            var entries: [String: Entry] = [:]
            let subscription = try subscribe()
            // The server's count of the remaining messages isn't exact while values are replaced.
            while !missing.isEmpty, let message = try subscription.next(within: Self.patience) {
                let (key, entry) = entry(message)
                entries[key] = entry
                missing.remove(key)
                if message.pending == 0 { break }
            }
            // These were replaced or have expired before the server delivered them.
            for key in missing { entries[key] = try Self.value(of: key, in: store) }
            return entries.values.sorted { $0.revision < $1.revision }
        }
    }

    /// Returns the keys, including those of deleted values. This function blocks.
    private func keys() throws(NATSFailure) -> Set<String> {
        try "\(prefix)>".withCString { filter in
            Result { () throws(NATSFailure) in
                var options = jsOptions()
                try NATSFailure.check(jsOptions_Init(&options))
                options.Stream.Info.SubjectsFilter = filter
                var code = jsErrCode(0)
                var info: UnsafeMutablePointer<jsStreamInfo>?
                try NATSFailure.check(
                    js_GetStreamInfo(&info, connection.context.pointer, stream, &options, &code), code: code)
                defer { jsStreamInfo_Destroy(info) }
                guard let list = info?.pointee.State.Subjects?.pointee else { return [] }
                let subjects = UnsafeBufferPointer(start: list.List, count: Int(list.Count))
                return Set(subjects.map { String(String(cString: $0.Subject).dropFirst(prefix.count)) })
            }
        }.get()
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
