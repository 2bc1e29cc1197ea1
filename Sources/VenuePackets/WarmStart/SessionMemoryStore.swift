import FoundationEssentials
import Glibc
import IndoorPositioning
import IndoorVocabulary

/// Why a memory cannot be kept.
public enum SessionMemoryStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process keeps its memory there.
    case inUse(folder: String)
    /// A file or folder cannot be read or written.
    case storage(path: String, reason: String)

    public var description: String {
        switch self {
        case .inUse(let folder): "\(folder) is in use by another process; give each its own folder"
        case .storage(let path, let reason):
            "\(path) cannot be used: \(reason); check the folder, its permissions and the free space"
        }
    }
}

/// A folder in which one process keeps what its session remembers: `memory.json`.
///
///     let store = try SessionMemoryStore(folder: "/var/lib/indoorloc")
///     if case .memory(let memory, let age) = store.read() { await localizer.restore(memory, after: age) }
///     …
///     try store.write(await localizer.memory)   // every now and then
///
/// The file is replaced as a whole: whoever reads it, also after a loss of power, finds the old memory or the new one. As
/// long as the value lives, no other process can use the folder.
///
/// | field | content |
/// | --- | --- |
/// | `format`, `version` | "indoor-localization-memory", 1 |
/// | `savedAt` | seconds since 1970 |
/// | `bootId`, `uptime` | which run of the machine that was, and seconds of it, also asleep; a clock that is set counts nothing |
/// | `memory` | `SessionMemory.document` |
public struct SessionMemoryStore: Sendable {
    /// What was found.
    public enum Content: Hashable, Sendable {
        /// There is no memory yet.
        case none
        /// A memory, and how long ago it was written.
        case memory(SessionMemory, age: Duration)
        /// The file cannot be used; `path` is where it was set aside, or nil if it had to be left.
        case unusable(reason: String, path: String?)
    }

    /// How long ago a memory counts as written when nothing tells: its place is too old, its calibration is not.
    public static let unknownAge = Duration.seconds(365 * 86_400)

    private static let format = "indoor-localization-memory"
    private static let version = 1
    /// No file is longer, in bytes: ten thousand fences take one of them.
    private static let limit = 16_777_216

    /// The folder.
    public let folder: String
    private let lock: OpenFile
    private let clock: MachineClock

    /// The file with the memory.
    public var path: String { folder + "/memory.json" }

    /// Opens the folder, which is created if need be.
    ///
    /// - Throws: `.inUse` if another process has it, `.storage` if the system can't.
    public init(folder: String) throws(SessionMemoryStoreError) { try self.init(folder: folder, clock: MachineClock()) }

    init(folder: String, clock: MachineClock) throws(SessionMemoryStoreError) {
        self.folder = folder
        self.clock = clock
        lock = try Self.storing { () throws(VenueRepositoryError) in
            try DiskFolder.create(folder)
            return try OpenFile(folder, O_RDONLY | O_DIRECTORY)
        }
        guard lock.lock() else { throw .inUse(folder: folder) }
    }

    /// Reads the memory. A file that cannot be used is set aside as `memory.json.unusable`, in place of an earlier one.
    public func read() -> Content {
        do throws(StoredMemoryError) {
            guard let bytes = try bytes() else { return .none }
            let (memory, time) = try Self.decode(bytes)
            return .memory(memory, age: time.age(at: clock.now) ?? Self.unknownAge)
        } catch {
            let aside = path + ".unusable"
            let isAside = (try? DiskFolder.place(path, at: aside)) ?? false
            return .unusable(reason: "\(path): \(error.message)", path: isAside ? aside : nil)
        }
    }

    /// Replaces the memory; the disk has it when this returns.
    ///
    /// - Throws: `.storage` if the system can't; then the earlier one is still there.
    public func write(_ memory: SessionMemory) throws(SessionMemoryStoreError) {
        let now = clock.now
        let document = JSONTree.object([
            "format": .string(Self.format), "version": .number(Double(Self.version)),
            "savedAt": .number(now.seconds), "bootId": .string(now.boot), "uptime": .number(now.uptime),
            "memory": JSONTree(memory.document),
        ])
        try Self.storing { () throws(VenueRepositoryError) in
            // What a killed process left there, or somebody else has put there, is removed, not followed or written into.
            let temporary = path + ".new"
            unlink(temporary)
            let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            try file.write(document.lines())
            try file.synchronize()
            try DiskFolder.place(temporary, at: path)
        }
    }

    /// The file's bytes; nil if there is none.
    private func bytes() throws(StoredMemoryError) -> [UInt8]? {
        var status = stat()
        if lstat(path, &status) != 0, errno == ENOENT { return nil }
        let tooLong = StoredMemoryError(message: "is longer than any memory, \(Self.limit) bytes")
        guard status.st_size <= Self.limit else { throw tooLong }
        var bytes: [UInt8] = []
        do throws(VenueRepositoryError) {
            let file = try OpenFile(path, O_RDONLY)
            while bytes.count <= Self.limit, let part = try file.read() { bytes += part }
        } catch {
            guard case .storage(_, let reason) = error else { throw StoredMemoryError(message: "\(error)") }
            throw StoredMemoryError(message: "cannot be read: \(reason)")
        }
        guard bytes.count <= Self.limit else { throw tooLong }
        return bytes
    }

    private static func decode(_ bytes: [UInt8]) throws(StoredMemoryError) -> (SessionMemory, MachineTime) {
        guard !bytes.isEmpty else { throw StoredMemoryError(message: "is empty") }
        let tree: JSONTree
        do throws(JSONSyntaxError) { tree = try JSONTree(bytes) } catch {
            throw StoredMemoryError(message: error.problem)
        }
        guard case .object(let members)? = JSONValue(readable: tree), members["format"] == .string(format) else {
            throw StoredMemoryError(message: "is no memory of a session: \"format\" must be \"\(format)\"")
        }
        guard case .number(let number)? = members["version"], number >= 1 else {
            throw StoredMemoryError(message: "\"version\" must be a number from 1")
        }
        guard number <= Double(version) else {
            let newer = JSONTree.number(number).summary
            throw StoredMemoryError(
                message: "is of version \(newer), written by a newer program; this one reads version \(version)")
        }
        let time = try MachineTime(members)
        do throws(SessionMemoryError) { return (try SessionMemory(members["memory"] ?? .null), time) } catch {
            throw StoredMemoryError(message: "\(error)")
        }
    }

    private static func storing<Result>(
        _ body: () throws(VenueRepositoryError) -> Result
    ) throws(SessionMemoryStoreError) -> Result {
        do throws(VenueRepositoryError) { return try body() } catch {
            guard case .storage(let path, let reason) = error else { throw .storage(path: "", reason: "\(error)") }
            throw .storage(path: path, reason: reason)
        }
    }
}

/// What is wrong with a file. Nobody has to do anything: a session begins without it.
struct StoredMemoryError: Error {
    let message: String
}
