/// The host names and addresses of the local machine. Data sent to them doesn't leave the machine.
package enum LoopbackHost {
    /// Returns whether the host is `localhost`, `::1` or in 127.0.0.0/8. An IPv6 address may be in brackets.
    package static func contains(_ host: String) -> Bool {
        if ["localhost", "::1", "[::1]"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
