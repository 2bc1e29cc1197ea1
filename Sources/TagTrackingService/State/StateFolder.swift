import Glibc
import IndoorVocabulary
import TagTracking
import TextFormats
import VenuePackets

/// A folder in which one process stores the state of a fleet.
///
/// `fleet.json` has the number of the latest start and the number of partitions, `tags-N.state` the snapshot of a
/// partition, and `receivers.state` that of the receivers. `places.jsonl` has the latest outputs of each tag, so that
/// the place where a tag was last received is known, and `register.txt` the keys of the register. Each file is replaced
/// as a whole: a reader finds either the old or the new content, even after a loss of power. During the lifetime of
/// this value, other processes can't use the folder.
package struct StateFolder: Sendable {
    /// The state at the start of a process.
    package struct Start: Hashable, Sendable {
        /// The number of the start, from 1, greater than that of each earlier start in this folder.
        package var epoch: UInt64
        /// The snapshots of earlier starts by partition; nil for a partition without one.
        package var snapshots: [[UInt8]?]
        /// The snapshot of the receivers' health and offsets; nil if there is none.
        package var receivers: [UInt8]?
        /// The latest outputs of all tags, one in each line; nil if there are none.
        package var places: [UInt8]?
        /// The keys of the latest register.
        package var register: Set<TagKey> = []

        /// Creates a start.
        package init(epoch: UInt64, snapshots: [[UInt8]?]) {
            self.epoch = epoch
            self.snapshots = snapshots
        }
    }

    /// The largest size of a snapshot in bytes, 1 GiB.
    private static let snapshotLimit = 1 << 30
    private static let format = "indoor-localization-fleet"
    private static let version = 1

    /// The folder.
    package let path: String
    private let lock: OpenFile

    /// Opens the folder, and creates it if it is missing.
    ///
    /// - Throws: ``StateFolderError`` if another process uses the folder, or the system can't open it.
    package init(_ path: String) throws(StateFolderError) {
        self.path = path
        lock = try Self.storing { () throws(FileSystemError) in
            try DiskFolder.create(path)
            return try OpenFile(path, O_RDONLY | O_DIRECTORY)
        }
        guard lock.lock() else { throw .inUse(folder: path) }
    }

    /// Begins an epoch, and returns the state of the earlier ones.
    ///
    /// The epoch is at least the number of seconds since 1970, so that it also increases if the folder is replaced.
    ///
    /// - Parameters:
    ///   - partitionCount: the number of partitions of a new folder, from 1 to 1024. Later starts use the number of the
    ///     first one.
    ///   - now: the time, counted from the Unix epoch.
    /// - Throws: ``StateFolderError`` if a file can't be read, or the number of the epoch can't be stored.
    package func begin(partitionCount: Int, at now: Instant) throws(StateFolderError) -> Start {
        var (epoch, count) = (0 as UInt64, partitionCount)
        if let bytes = try bytes(of: "fleet.json", limit: 1 << 16) { (epoch, count) = try counters(bytes) }
        epoch = max(epoch + 1, UInt64(max(0, now.nanoseconds / 1_000_000_000)))
        let document = JSONTree.object([
            "format": .string(Self.format), "version": .number(Double(Self.version)), "epoch": .string("\(epoch)"),
            "partitions": .number(Double(count)),
        ])
        try write(document.lines(), to: "fleet.json")
        var start = Start(epoch: epoch, snapshots: [])
        start.receivers = try bytes(of: Self.receiverFile, limit: Self.snapshotLimit)
        start.places = try bytes(of: Self.placeFile, limit: Self.snapshotLimit)
        let register = try bytes(of: Self.registerFile, limit: Self.snapshotLimit) ?? []
        start.register = Set(
            register.split(separator: UInt8(ascii: "\n")).compactMap { TagKey(String(decoding: $0, as: UTF8.self)) })
        for partition in 0..<count {
            start.snapshots.append(try bytes(of: Self.name(of: partition), limit: Self.snapshotLimit))
        }
        return start
    }

    /// Replaces the snapshot of a partition; it is on disk when this function returns.
    package func write(_ snapshot: [UInt8], partition: Int) throws(StateFolderError) {
        try write(snapshot, to: Self.name(of: partition))
    }

    /// Replaces the snapshot of the receivers; it is on disk when this function returns.
    package func write(receivers snapshot: [UInt8]) throws(StateFolderError) {
        try write(snapshot, to: Self.receiverFile)
    }

    /// Replaces the latest outputs of the tags; they are on disk when this function returns.
    package func write(places outputs: [FleetOutput]) throws(StateFolderError) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256 * outputs.count)
        for output in outputs {
            bytes += output.jsonBytes
            bytes.append(UInt8(ascii: "\n"))
        }
        try write(bytes, to: Self.placeFile)
    }

    /// Replaces the keys of the register; they are on disk when this function returns.
    package func write(register keys: Set<TagKey>) throws(StateFolderError) {
        try write(Array(keys.map { "\($0)\n" }.sorted().joined().utf8), to: Self.registerFile)
    }

    /// Renames a snapshot that can't be used, and returns its new path.
    ///
    /// - Parameter partition: the partition; nil for the snapshot of the receivers.
    package func setAside(partition: Int?) throws(StateFolderError) -> String {
        try setAside(partition.map(Self.name) ?? Self.receiverFile)
    }

    /// Renames the file with the latest outputs, which can't be used, and returns its new path.
    package func setAsidePlaces() throws(StateFolderError) -> String { try setAside(Self.placeFile) }

    private func setAside(_ file: String) throws(StateFolderError) -> String {
        let name = path + "/" + file
        try Self.storing { () throws(FileSystemError) in _ = try DiskFolder.place(name, at: name + ".unusable") }
        return name + ".unusable"
    }

    private static let receiverFile = "receivers.state"
    private static let placeFile = "places.jsonl"
    private static let registerFile = "register.txt"
    private static func name(of partition: Int) -> String { "tags-\(partition).state" }

    // MARK: Contents

    private func counters(_ bytes: [UInt8]) throws(StateFolderError) -> (epoch: UInt64, partitions: Int) {
        let file = path + "/fleet.json"
        func damaged(_ reason: String) -> StateFolderError { .damaged(path: file, reason: reason) }
        let tree: JSONTree
        do throws(JSONDocumentError) { tree = try JSONTree(bytes) } catch { throw damaged(error.problem) }
        guard case .object(let members)? = JSONValue(readable: tree), members["format"] == .string(Self.format) else {
            throw damaged("\"format\" must be \"\(Self.format)\"")
        }
        guard members["version"] == .number(Double(Self.version)) else {
            throw damaged("\"version\" must be \(Self.version)")
        }
        guard case .string(let text)? = members["epoch"], let epoch = UInt64(text), epoch < .max else {
            throw damaged("\"epoch\" must be a number as a text")
        }
        guard case .number(let number)? = members["partitions"], let count = Int(exactly: number),
            (1...1024).contains(count)
        else { throw damaged("\"partitions\" must be a number from 1 to 1024") }
        return (epoch, count)
    }

    /// Returns the content of a file; nil if there is none.
    private func bytes(of name: String, limit: Int) throws(StateFolderError) -> [UInt8]? {
        let path = path + "/" + name
        guard access(path, F_OK) == 0 || errno != ENOENT else { return nil }
        return try Self.storing { () throws(FileSystemError) in
            let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW)
            guard try file.size() <= limit else {
                throw FileSystemError(path: path, reason: "is larger than the limit of \(limit) bytes")
            }
            var bytes: [UInt8] = []
            while let part = try file.read() { bytes += part }
            return bytes
        }
    }

    private func write(_ bytes: [UInt8], to name: String) throws(StateFolderError) {
        try Self.storing { () throws(FileSystemError) in
            // A leftover of a killed process, or a foreign file or link, is removed, not followed or overwritten.
            let temporary = path + "/" + name + ".new"
            unlink(temporary)
            let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            try file.write(bytes)
            try file.synchronize()
            try DiskFolder.place(temporary, at: path + "/" + name)
        }
    }

    private static func storing<Result>(
        _ body: () throws(FileSystemError) -> Result
    ) throws(StateFolderError) -> Result {
        do throws(FileSystemError) { return try body() } catch {
            throw .storage(path: error.path, reason: error.reason)
        }
    }
}

/// An error of a folder with the state of a fleet.
package enum StateFolderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process uses the folder.
    case inUse(folder: String)
    /// A file or folder can't be read or written.
    case storage(path: String, reason: String)
    /// The file with the number of the latest start can't be used.
    case damaged(path: String, reason: String)

    package var description: String {
        switch self {
        case .inUse(let folder): "\(folder) is in use by another process; give each its own folder"
        case .storage(let path, let reason):
            "\(path) can't be used: \(reason); check the folder, its permissions and the free space"
        case .damaged(let path, let reason):
            "\(path) can't be used: \(reason); restore the file, or give an empty folder"
        }
    }
}
