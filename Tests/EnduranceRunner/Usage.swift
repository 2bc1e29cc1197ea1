import CBench
import Foundation

/// The resources that this process uses.
struct Usage: Codable {
    /// The bytes that are allocated and not freed, on all threads.
    var heapBytes: Int
    /// The physical memory that isn't shared with files, in kilobytes.
    var residentKilobytes: Int
    var threads: Int
    var descriptors: Int

    /// Measures the resources now.
    init() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let field = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
        residentKilobytes = Int(field.filter(\.isNumber)) ?? 0
        threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        heapBytes = Int(cbench_heap_bytes())
    }
}
