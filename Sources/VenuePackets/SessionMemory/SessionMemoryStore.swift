import FoundationEssentials
import Glibc
import IndoorPositioning
import IndoorVocabulary
import TextFormats

/// An error in storing a session memory.
public enum SessionMemoryStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process uses the folder.
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

/// A folder in which one process stores its session memory: `memory.json`.
///
///     let store = try SessionMemoryStore(folder: "/var/lib/indoorloc")
///     if case .memory(let memory, let age) = store.read() { await localizer.restore(memory, after: age) }
///     …
///     try store.write(await localizer.memory)   // every now and then
///
/// The file is replaced as a whole: readers find either the old or the new memory, even after a loss of power. During
/// the lifetime of this value, other processes cannot use the folder.
///
/// | field | content |
/// | --- | --- |
/// | `format`, `version` | "indoor-localization-memory", 1 |
/// | `savedAt` | seconds since 1970 |
/// | `bootId`, `uptime` | identifier of the boot, and seconds since that boot, including suspend; independent of clock changes |
/// | `memory` | `SessionMemory.document` |
public struct SessionMemoryStore: Sendable {
    /// The content of the folder.
    public enum Content: Hashable, Sendable {
        /// There is no memory yet.
        case none
        /// A memory, and the time since it was written.
        case memory(SessionMemory, age: Duration)
        /// The file cannot be used; `path` is its new path, or nil if it could not be moved.
        case unusable(reason: String, path: String?)
    }

    /// The age of a memory whose age is unknown: its position is too old, its calibration is still usable.
    package static let unknownAge = Duration.seconds(365 * 86_400)

    private static let format = "indoor-localization-memory"
    private static let version = 1
    /// The largest size of the file in bytes, 16 MiB: ten thousand fences need 1 MiB.
    private static let limit = 16_777_216

    /// The folder.
    package let folder: String
    private let lock: OpenFile
    private let clock: MachineClock

    /// The file with the memory.
    package var path: String { folder + "/memory.json" }

    /// Opens the folder, which is created if it is missing.
    ///
    /// - Throws: `.inUse` if another process uses it, `.storage` if the system cannot open it.
    public init(folder: String) throws(SessionMemoryStoreError) { try self.init(folder: folder, clock: MachineClock()) }

    init(folder: String, clock: MachineClock) throws(SessionMemoryStoreError) {
        self.folder = folder
        self.clock = clock
        lock = try Self.storing { () throws(FileSystemError) in
            try DiskFolder.create(folder)
            return try OpenFile(folder, O_RDONLY | O_DIRECTORY)
        }
        guard lock.lock() else { throw .inUse(folder: folder) }
    }

    /// Reads the memory. A file that cannot be used is renamed to `memory.json.unusable` and replaces an earlier one.
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

    /// Replaces the memory; it is on disk when this function returns.
    ///
    /// - Throws: `.storage` if the system cannot write it; then the earlier memory stays.
    public func write(_ memory: SessionMemory) throws(SessionMemoryStoreError) {
        let now = clock.now
        let document = JSONTree.object([
            "format": .string(Self.format), "version": .number(Double(Self.version)),
            "savedAt": .number(now.seconds), "bootId": .string(now.boot), "uptime": .number(now.uptime),
            "memory": JSONTree(memory.document),
        ])
        try Self.storing { () throws(FileSystemError) in
            // A leftover of a killed process, or a file or link of another user, is removed, not followed or
            // overwritten.
            let temporary = path + ".new"
            unlink(temporary)
            do throws(FileSystemError) {
                let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
                try file.write(document.lines())
                try file.synchronize()
                try DiskFolder.place(temporary, at: path)
            } catch {
                // On a full disk, the incomplete new memory would only take space.
                unlink(temporary)
                throw error
            }
        }
    }

    /// Returns the file's bytes; nil if there is no file.
    private func bytes() throws(StoredMemoryError) -> [UInt8]? {
        var status = stat()
        if lstat(path, &status) != 0, errno == ENOENT { return nil }
        let tooLong = StoredMemoryError(message: "is larger than the limit of \(Self.limit) bytes")
        guard status.st_size <= Self.limit else { throw tooLong }
        var bytes: [UInt8] = []
        do throws(FileSystemError) {
            let file = try OpenFile(path, O_RDONLY)
            while bytes.count <= Self.limit, let part = try file.read() { bytes += part }
        } catch {
            throw StoredMemoryError(message: "cannot be read: \(error.reason)")
        }
        guard bytes.count <= Self.limit else { throw tooLong }
        return bytes
    }

    /// Returns the memory of a file's bytes, and the moment at which it was written.
    static func decode(_ bytes: [UInt8]) throws(StoredMemoryError) -> (SessionMemory, MachineTime) {
        guard !bytes.isEmpty else { throw StoredMemoryError(message: "is empty") }
        let tree: JSONTree
        do throws(JSONDocumentError) { tree = try JSONTree(bytes) } catch {
            throw StoredMemoryError(message: error.problem)
        }
        guard case .object(let members)? = JSONValue(readable: tree), members["format"] == .string(format) else {
            throw StoredMemoryError(message: "is not a session memory: \"format\" must be \"\(format)\"")
        }
        guard case .number(let number)? = members["version"], number >= 1 else {
            throw StoredMemoryError(message: "\"version\" must be a number of 1 or more")
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
        _ body: () throws(FileSystemError) -> Result
    ) throws(SessionMemoryStoreError) -> Result {
        do throws(FileSystemError) { return try body() } catch {
            throw .storage(path: error.path, reason: error.reason)
        }
    }
}

/// An unusable file. The caller needn't handle it: a session begins without it.
struct StoredMemoryError: Error {
    let message: String
}

/// A moment that is comparable between runs of a program.
///
/// Since the last boot, moments are compared by uptime, which cannot be set; across a reboot, by the wall clock.
struct MachineTime: Hashable, Sendable {
    /// Seconds since 1970 by the wall clock, which may have been set.
    var seconds: Double
    /// The identifier of the boot; empty if the system doesn't provide one.
    var boot: String
    /// Seconds since that boot, including suspend.
    var uptime: Double

    init(seconds: Double, boot: String, uptime: Double) {
        self.seconds = seconds
        self.boot = boot
        self.uptime = uptime
    }

    /// Reads the moment from a document.
    init(_ members: [String: JSONValue]) throws(StoredMemoryError) {
        guard case .number(let seconds)? = members["savedAt"], seconds.isFinite else {
            throw StoredMemoryError(message: "\"savedAt\" must be a number of seconds since 1970")
        }
        self.seconds = seconds
        if case .string(let boot)? = members["bootId"] { self.boot = boot } else { boot = "" }
        if case .number(let uptime)? = members["uptime"] { self.uptime = uptime } else { uptime = .nan }
    }

    /// Returns the age at another moment; nil if it would be negative, because a clock was set or isn't set yet.
    func age(at now: MachineTime) -> Duration? {
        let isSameRun = !boot.isEmpty && boot == now.boot && uptime.isFinite
        let age = isSameRun ? now.uptime - uptime : now.seconds - seconds
        // A `Duration` can hold 292 thousand million years, but an age of about a thousand years already means a wrong
        // clock.
        guard age >= 0, age < 3e10 else { return nil }
        return .seconds(age)
    }
}

/// A source of the present moment.
struct MachineClock: Sendable {
    private let read: @Sendable () -> MachineTime

    /// The clock of this machine.
    init() {
        let boot = Self.bootID
        self.init {
            MachineTime(seconds: Self.seconds(CLOCK_REALTIME), boot: boot, uptime: Self.seconds(CLOCK_BOOTTIME))
        }
    }

    init(_ read: @escaping @Sendable () -> MachineTime) { self.read = read }

    var now: MachineTime { read() }

    private static var bootID: String {
        guard let file = try? OpenFile("/proc/sys/kernel/random/boot_id", O_RDONLY), let bytes = try? file.read() else {
            return ""
        }
        return String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
