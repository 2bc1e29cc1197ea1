import IndoorLocalization
import TagTracking
import TextFormats
import VenueExchange
import VenuePackets

/// A configuration of ESPresense-companion as `venue import` writes it: a venue, and the register of its devices.
struct ImportedHouse {
    /// The register of the devices.
    struct Register {
        /// The register as a table (CSV).
        var bytes: [UInt8]
        /// The number of its tags.
        var count: Int
        /// The devices that the register can't contain, with the reason.
        var remarks: [IMDFReport.Remark]
    }

    /// The venue with the remarks about floors, rooms, nodes and devices.
    let imported: IMDFImport
    let register: Register
    private let broker: String?

    init(_ companion: CompanionImport) {
        register = Self.register(of: companion.devices)
        var report = companion.report
        report.remarks += register.remarks
        imported = IMDFImport(venue: companion.venue, report: report)
        broker = companion.broker
    }

    private static func register(of devices: [CompanionDevice]) -> Register {
        var text = "key,name,aliases\n"
        var register = Register(bytes: [], count: 0, remarks: [])
        var used: Set<TagKey> = []
        for device in devices {
            guard let key = TagNaming.key(of: device.key)?.canonical else {
                register.remarks.append(
                    remark(device, "it isn't a name: it is longer than \(TagNaming.longestName) bytes, or has controls")
                )
                continue
            }
            guard used.insert(key).inserted else {
                register.remarks.append(remark(device, "it is already in the list"))
                continue
            }
            let alias = device.alias.flatMap { alias in
                TagNaming.key(of: alias).map(\.canonical).flatMap { used.insert($0).inserted ? alias : nil }
            }
            text +=
                [device.key, PrintableText.line(device.name ?? ""), alias ?? ""]
                .map { CSVText.field($0.unicodeScalars) }
                .joined(separator: ",") + "\n"
            register.count += 1
        }
        register.bytes = Array(text.utf8)
        return register
    }

    private static func remark(_ device: CompanionDevice, _ reason: String) -> IMDFReport.Remark {
        IMDFReport.Remark(featureType: "device", id: device.key, outcome: .leftOut, reason: reason)
    }

    /// Returns the lines after those of the venue: the register, and the command that locates the tags.
    func lines(packet: String, tags: String?) -> [String] {
        var lines: [String] = []
        if let tags {
            lines.append("\(tags): \(register.count.counting("tag"))")
        } else if register.count > 0 {
            lines.append("\(register.count.counting("device")) with a name: give --tags FILE for their register")
        }
        guard !imported.venue.receivers.isEmpty else { return lines }
        let broker = broker ?? "mqtt://localhost"
        let words = ["--broker", broker, "--venue", packet] + (tags.map { ["--tags", $0] } ?? [])
        lines.append(
            "next: indoorloc track \(words.map(ShellWord.quoted).joined(separator: " ")) --http 127.0.0.1:8080")
        return lines.map(PrintableText.line)
    }
}
