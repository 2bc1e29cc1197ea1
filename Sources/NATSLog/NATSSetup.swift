import CNATS
import TagTracking

/// The creation of a fleet's stream and buckets.
package struct NATSSetup: Hashable, Sendable {
    /// The numbers of partitions and of gateway groups, which all processes of the fleet use.
    package var partitioning = Partitioning()
    /// The number of servers that store each value: 1, 3 or 5.
    package var replicas = 1
    /// The time after which the stream discards readings, from two minutes.
    package var maximumAge = Duration.seconds(3_600)
    /// The time after which the stream discards outputs, from two minutes.
    package var maximumOutputAge = Duration.seconds(3_600)
    /// The size of the stream of the outputs in bytes above which it discards the oldest outputs; nil for no limit.
    package var maximumOutputBytes: Int64?
    /// The size of the stream of the readings in bytes above which it discards the oldest readings; nil for no limit.
    package var maximumBytes: Int64?
    /// The time during which a stream detects that a message was sent again.
    package var duplicateWindow = Duration.seconds(120)
    /// The time after which a lease expires, in whole seconds. The processes of the fleet read it from the bucket.
    package var leaseTime = Duration.seconds(3)
    /// The time after which a worker's statistics of the receivers expire.
    package static let receiverTime = Duration.seconds(60)

    package init() {}

    /// Creates the missing streams and buckets; returns one line for each of them.
    ///
    /// - Throws: `.misconfigured` if one of them exists with other settings.
    package func run(_ connection: NATSConnection) async throws(FleetStoreError) -> [String] {
        var lines = [
            try await makeStream(
                connection, FleetNames.stream, FleetNames.subjects, age: maximumAge, bytes: maximumBytes),
            try await makeStream(
                connection, FleetNames.outputStream, FleetNames.outputSubjects, age: maximumOutputAge,
                bytes: maximumOutputBytes),
        ]
        lines.append(try await makeBucket(connection, FleetNames.leases, timeToLive: leaseTime))
        lines.append(try await makeBucket(connection, FleetNames.states, timeToLive: .zero))
        lines.append(try await makeBucket(connection, FleetNames.receivers, timeToLive: Self.receiverTime))
        let isNew = try await NATSSnapshotStore(connection).set(partitioning)
        let numbers = "\(partitioning.partitions) partitions, \(partitioning.gatewayGroups) groups of gateways"
        lines.append("partitioning: \(isNew ? "stored" : "exists"), \(numbers)")
        return lines
    }

    private func makeStream(
        _ connection: NATSConnection, _ name: String, _ subjects: String, age: Duration, bytes: Int64?
    ) async throws(FleetStoreError) -> String {
        let (context, setup) = (connection.context, self)
        let isNew = try await connection.blocking(key: "the stream \(name)") { () throws(NATSFailure) in
            var failure: NATSFailure?
            name.withCString { name in
                subjects.withCString { subject in
                    var subjects: [UnsafePointer<CChar>?] = [subject]
                    subjects.withUnsafeMutableBufferPointer { subjects in
                        do throws(NATSFailure) {
                            var configuration = jsStreamConfig()
                            try NATSFailure.check(jsStreamConfig_Init(&configuration))
                            configuration.Name = name
                            configuration.Subjects = subjects.baseAddress
                            configuration.SubjectsLen = 1
                            configuration.Storage = js_FileStorage
                            configuration.Discard = js_DiscardOld
                            configuration.Replicas = Int64(setup.replicas)
                            configuration.MaxAge = Int64(age.components.seconds) * 1_000_000_000
                            configuration.MaxBytes = bytes ?? -1
                            configuration.Duplicates = Int64(setup.duplicateWindow.components.seconds) * 1_000_000_000
                            var code = jsErrCode(0)
                            try NATSFailure.check(
                                js_AddStream(nil, context.pointer, &configuration, nil, &code), code: code)
                        } catch { failure = error }
                    }
                }
            }
            if let failure {
                guard failure.code == JSStreamNameExistErr.rawValue else { throw failure }
                return false
            }
            return true
        }
        let kept = "keeps \(age.components.seconds) s" + (bytes.map { ", at most \($0) bytes" } ?? "")
        // The server accepts the creation of an equal stream. It reports that the name exists if the settings differ.
        guard isNew else {
            throw .misconfigured(
                reason: "the stream \(name) exists with other settings; use its settings, or change it with "
                    + "'nats stream edit \(name)'")
        }
        return "stream \(name): ready, \(replicas) replica\(replicas == 1 ? "" : "s"), \(kept)"
    }

    private func makeBucket(
        _ connection: NATSConnection, _ name: String, timeToLive: Duration
    ) async throws(FleetStoreError) -> String {
        let (context, replicas) = (connection.context, replicas)
        let nanoseconds = Int64(timeToLive.components.seconds) * 1_000_000_000
        try await connection.blocking(key: "the bucket \(name)") { () throws(NATSFailure) in
            var status = NATS_OK
            name.withCString { bucket in
                var configuration = kvConfig()
                kvConfig_Init(&configuration)
                configuration.Bucket = bucket
                configuration.History = 1
                configuration.TTL = nanoseconds
                configuration.Replicas = Int32(replicas)
                configuration.StorageType = js_FileStorage
                var store: OpaquePointer?
                status = js_CreateKeyValue(&store, context.pointer, &configuration)
                if let store { kvStore_Destroy(store) }
            }
            try NATSFailure.check(status)
        }
        let kept = timeToLive > .zero ? ", values expire after \(timeToLive.components.seconds) s" : ""
        return "bucket \(name): ready, \(replicas) replica\(replicas == 1 ? "" : "s")\(kept)"
    }
}

/// The names of a fleet's stream, buckets and subjects.
package enum FleetNames {
    /// The stream of the readings.
    package static let stream = "READINGS"
    /// The bucket of the leases.
    package static let leases = "indoorloc-leases"
    /// The bucket of the partitions' states.
    package static let states = "indoorloc-state"
    /// The key of the partitioning in the bucket of the states.
    package static let partitioning = "partitioning"
    /// The subjects of the stream.
    static let subjects = "readings.*.*"

    static func subject(of tag: TagKey, in partitioning: Partitioning) -> String {
        "readings.\(partitioning.partition(of: tag)).\(Partitioning.token(tag.description))"
    }

    static func subjects(ofPartition partition: Int) -> String { "readings.\(partition).*" }

    /// The stream of the outputs.
    package static let outputStream = "POSITIONS"
    /// The consumer of the outputs for the database.
    package static let databaseConsumer = "store"
    /// The bucket of the receivers' statistics.
    package static let receivers = "indoorloc-receivers"
    /// The subjects of the outputs of all tags.
    static let outputSubjects = "positions.*"

    /// The subject of a tag's outputs.
    static func outputSubject(of tag: TagKey) -> String {
        "positions.\(Partitioning.token(tag.description))"
    }

    static func key(ofPartition partition: Int) -> String { "partition.\(partition)" }

    static func partition(ofKey key: String) -> Int? {
        key.hasPrefix("partition.") ? Int(key.dropFirst("partition.".count)) : nil
    }
}
