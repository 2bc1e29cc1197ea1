import IndoorVocabulary

/// The stored state of a partition: the machine's snapshot together with the place in the log up to which it was made.
///
/// Both are one value, so that a store replaces both at once. A worker that continues from the state therefore observes
/// each reading of the log exactly once.
package struct PartitionState: Hashable, Sendable {
    /// The number of the owner, which increases with each owner.
    package var epoch: UInt64
    /// The name of the owner.
    package var owner: String
    /// The last entry of the log in the snapshot; 0 for none.
    package var sequence: UInt64
    /// The number of readings in the snapshot since the first owner.
    package var readings: UInt64
    /// The time to which the machine has advanced, counted from the Unix epoch.
    package var instant: Instant
    /// The snapshot of the machine.
    package var snapshot: [UInt8]

    /// Creates a state.
    package init(
        epoch: UInt64, owner: String, sequence: UInt64, readings: UInt64, instant: Instant, snapshot: [UInt8]
    ) {
        self.epoch = epoch
        self.owner = owner
        self.sequence = sequence
        self.readings = readings
        self.instant = instant
        self.snapshot = snapshot
    }

    /// "ILP" and the version of the bytes.
    private static let mark: UInt32 = 0x0150_4C49

    /// The state as bytes for a store.
    package var bytes: [UInt8] {
        var writer = BinaryWriter(reservingCapacity: snapshot.count + owner.utf8.count + 40)
        writer.write(Self.mark)
        writer.write(epoch)
        writer.write(sequence)
        writer.write(readings)
        writer.write(instant.nanoseconds)
        writer.write(owner)
        writer.write(snapshot)
        return writer.bytes
    }

    /// Reads the bytes of a store.
    ///
    /// - Parameter key: the name of the value in errors.
    /// - Throws: `.damaged` if the bytes aren't those of a state.
    package init(_ bytes: [UInt8], key: String) throws(FleetStoreError) {
        var reader = BinaryReader(bytes)
        do throws(BinaryReader.Failure) {
            guard try reader.number(UInt32.self) == Self.mark else {
                throw BinaryReader.Failure(offset: 0)
            }
            epoch = try reader.number()
            sequence = try reader.number()
            // The next epoch and the next sequence must fit in the type.
            guard epoch < .max, sequence < .max else { throw BinaryReader.Failure(offset: reader.offset) }
            readings = try reader.number()
            instant = Instant(nanoseconds: try reader.number())
            owner = try reader.text()
            snapshot = Array(bytes[reader.offset...])
        } catch {
            throw .damaged(
                key: key,
                reason: "byte \(error.offset) is not that of a partition's state of this version; delete the value, "
                    + "so that its tags begin anew")
        }
    }
}
