import Foundation
import IndoorLocalizationTesting

/// The system calls, socket families and capabilities that a systemd unit permits, read from its file.
struct UnitRestrictions {
    /// The permitted system calls.
    let calls: Set<String>
    /// The numbers of the permitted socket families.
    let families: Set<Int32>
    /// The capabilities, as bits by their number.
    let capabilities: UInt64

    struct UnknownWord: Error {
        let word: String
    }

    private static let familyNumbers: [String: Int32] = [
        "AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_BLUETOOTH": 31,
    ]

    private static let capabilityNumbers: [String: UInt64] = ["CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13]

    /// Reads a unit of the packages. Later lines add calls, or remove those after `~`.
    init(_ unit: String) throws {
        let file = try Checkout.root().appending(path: ".packaging/systemd/" + unit)
        let text = try String(contentsOf: file, encoding: .utf8)
        var calls: Set<String> = []
        var families: Set<Int32> = []
        var capabilities: UInt64 = 0
        for line in text.split(separator: "\n") {
            if line.hasPrefix("SystemCallFilter=") {
                let value = line.dropFirst("SystemCallFilter=".count)
                let isRemoved = value.hasPrefix("~")
                for word in (isRemoved ? value.dropFirst() : value).split(separator: " ") {
                    let named = try Self.calls(in: String(word))
                    if isRemoved { calls.subtract(named) } else { calls.formUnion(named) }
                }
            }
            if line.hasPrefix("CapabilityBoundingSet=") {
                for word in line.dropFirst("CapabilityBoundingSet=".count).split(separator: " ") {
                    guard let number = Self.capabilityNumbers[String(word)] else {
                        throw UnknownWord(word: String(word))
                    }
                    capabilities |= 1 << number
                }
            }
            if line.hasPrefix("RestrictAddressFamilies=") {
                for word in line.dropFirst("RestrictAddressFamilies=".count).split(separator: " ") {
                    guard let number = Self.familyNumbers[String(word)] else { throw UnknownWord(word: String(word)) }
                    families.insert(number)
                }
            }
        }
        (self.calls, self.families, self.capabilities) = (calls, families, capabilities)
    }

    /// Returns the system calls of a group of systemd, such as `@system-service`, or the call itself.
    private static func calls(in word: String) throws -> Set<String> {
        guard word.hasPrefix("@") else { return [word] }
        let result = try Tool.run(["--no-pager", "syscall-filter", word], program: "/usr/bin/systemd-analyze")
        guard result.status == 0 else { throw UnknownWord(word: word) }
        var calls: Set<String> = []
        for line in result.lines.dropFirst() {
            let name = line.trimmingCharacters(in: .whitespaces)
            if name.isEmpty || name.hasPrefix("#") { continue }
            calls.formUnion(try Self.calls(in: name))
        }
        return calls
    }

    /// The program that applies the restrictions, and its arguments before those of the restricted program.
    ///
    /// - Parameter further: calls that the test permits in addition to the unit.
    func wrapper(of program: String, further: Set<String> = []) throws -> [String] {
        let folder = URL(filePath: try Tool.path()).deletingLastPathComponent()
        return [
            folder.appending(path: "FilteredProgram").path, calls.union(further).sorted().joined(separator: ","),
            families.sorted().map(String.init).joined(separator: ","),
            String(capabilities, radix: 16), program,
        ]
    }
}
