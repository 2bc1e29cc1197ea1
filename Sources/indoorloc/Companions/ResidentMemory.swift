import Glibc

/// The physical memory of this process.
package enum ResidentMemory {
    /// The number of bytes; nil if the kernel doesn't report it.
    package static var bytes: Int? {
        guard let file = fopen("/proc/self/statm", "re") else { return nil }
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 128)
        let count = fread(&text, 1, text.count, file)
        // The second field is the resident size in pages.
        let fields = String(decoding: text.prefix(count), as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
