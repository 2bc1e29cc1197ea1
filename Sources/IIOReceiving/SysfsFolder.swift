import Glibc

/// A folder of sysfs, in which each file contains one attribute as text.
struct SysfsFolder: Hashable, Sendable {
    let path: String

    /// The largest size of an attribute in bytes: one page.
    private static let longest = 4096

    func folder(_ name: String) -> SysfsFolder { SysfsFolder(path: path + "/" + name) }

    /// Returns whether the folder contains a file or folder with this name.
    func has(_ name: String) -> Bool { access(path + "/" + name, F_OK) == 0 }

    /// The names of all files and folders in alphabetical order; empty if the folder isn't readable.
    var names: [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the text of an attribute without surrounding whitespace.
    func text(_ name: String) throws(IIOError) -> String {
        let file = path + "/" + name
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw IIOError("open", file, number: errno) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw IIOError("read", file, number: errno) }
        var text = Substring(String(decoding: bytes.prefix(count), as: UTF8.self))
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text.drop { $0.isWhitespace })
    }

    /// Returns the text of an optional attribute; nil if the device doesn't have it.
    func optionalText(_ name: String) throws(IIOError) -> String? { has(name) ? try text(name) : nil }

    /// Returns the number in an attribute.
    func number(_ name: String) throws(IIOError) -> Double {
        let text = try text(name)
        guard let number = Double(text), number.isFinite else {
            throw .malformed(path: path + "/" + name, text: text)
        }
        return number
    }

    /// Returns the number in the first of several attributes that the device has; nil if it has none.
    func number(firstOf names: [String]) throws(IIOError) -> Double? {
        for name in names where has(name) { return try number(name) }
        return nil
    }

    /// Sets an attribute.
    func write(_ text: String, to name: String) throws(IIOError) {
        let file = path + "/" + name
        let descriptor = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { throw IIOError("open", file, number: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw IIOError("write", file, number: errno)
        }
    }
}
