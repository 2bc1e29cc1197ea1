import Foundation
import Glibc

/// A file that cannot be read.
struct InputFailure: Error, CustomStringConvertible {
    let description: String

    /// The system's last error.
    init(_ path: String) { description = "\(path): cannot be read: \(String(cString: strerror(errno)))" }
}

extension ParsedArguments {
    /// What stands for standard input on a command line.
    static let standardInput = "-"

    /// The path of a file that is read: that of standard input for a dash.
    static func path(_ word: String) -> String { word == standardInput ? "/dev/stdin" : word }

    /// The file of an option, which may be read more than once; nil if it was not given.
    func input(_ option: String) throws -> String? { try value(option).map(InputFile.keeping) }

    /// The file of an option that must be given, which may be read more than once.
    func requiredInput(_ option: String) throws -> String { try InputFile.keeping(try required(option)) }

    /// The file of an operand, which may be read more than once.
    func input(operand index: Int) throws -> String { try InputFile.keeping(operands[index]) }

    /// The file of an operand that is read once, from its start to its end: a pipe while it fills.
    func stream(operand index: Int) -> String { Self.path(operands[index]) }

    /// - Throws: `UsageError` if standard input is to be more than one file.
    func checkStandardInput() throws(UsageError) {
        let words = operands + values.values.flatMap(\.self)
        guard words.count(where: { $0 == Self.standardInput }) > 1 else { return }
        throw UsageError(message: "'-' is standard input, which can be one file only", command: syntax.name)
    }
}

/// A file that is read as often as need be, also if it is a pipe.
enum InputFile {
    /// The path of a file with the content of the one at `word`: itself, unless what is read of it is gone.
    ///
    /// The content of a pipe is kept in a file without a name, which ends with the process. Where the pipe was given
    /// open, such as standard input, that file takes its place, so that it keeps its name.
    static func keeping(_ word: String) throws(InputFailure) -> String {
        let path = ParsedArguments.path(word)
        guard let file = FileIdentity(path: path), file.isPipe || path == "/dev/stdin" && !file.isRegular else {
            return path
        }
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw InputFailure(path) }
        defer { close(source) }
        let kept = try nameless(path)
        try copy(source, to: kept, path)
        guard let given = OpenDescriptor.named(path) else { return "/dev/fd/\(kept)" }
        dup2(kept, given)
        close(kept)
        return path
    }

    /// No packet is larger, in bytes.
    private static let limit = 4 << 30

    private static func nameless(_ path: String) throws(InputFailure) -> Int32 {
        var template = Array((FileManager.default.temporaryDirectory.path + "/indoorloc-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw InputFailure(path) }
        unlink(template)
        return descriptor
    }

    private static func copy(_ source: Int32, to target: Int32, _ path: String) throws(InputFailure) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var total = 0
        while true {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(source, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw InputFailure(path) }
            guard count > 0 else { return }
            total += count
            errno = EFBIG
            guard total <= limit else { throw InputFailure(path) }
            let error = FileDescriptor.write(bytes[..<count], to: target)
            errno = error
            guard error == 0 else { throw InputFailure(path) }
        }
    }
}
