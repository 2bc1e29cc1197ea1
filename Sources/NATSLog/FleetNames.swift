import TagTracking

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
