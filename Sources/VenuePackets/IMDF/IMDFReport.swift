import TextFormats

/// The features that an import has omitted or changed, and the numbers of the archive's features.
public struct IMDFReport: Hashable, Sendable, CustomStringConvertible {
    /// The result for a feature or a part of it.
    public enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// The feature is not in the packet.
        case leftOut
        /// The feature is in the packet in a changed form.
        case changed
    }

    /// A remark about a feature.
    public struct Remark: Hashable, Sendable {
        /// The feature's type, such as `unit`; `archive` for a file that isn't a feature.
        public var featureType: String
        /// The feature's id in the archive, in lower case, or the file's name.
        public var id: String
        /// The result.
        public var outcome: Outcome
        /// The reason and its effect.
        public var reason: String

        /// Creates a remark.
        package init(featureType: String, id: String, outcome: Outcome, reason: String) {
            self.featureType = featureType
            self.id = id
            self.outcome = outcome
            self.reason = reason
        }
    }

    /// An object of the packet and the feature that it comes from.
    package struct Identity: Hashable, Sendable {
        /// The kind of object: `venue`, `map`, `room`, `poi`, `fence` or `node`.
        package var kind: String
        /// The number in the packet.
        package var number: Int
        /// The feature's type.
        package var featureType: String
        /// The feature's id in the archive, in lower case.
        package var id: String

        /// Creates an entry.
        package init(kind: String, number: Int, featureType: String, id: String) {
            self.kind = kind
            self.number = number
            self.featureType = featureType
            self.id = id
        }
    }

    /// The remarks in the order of the import.
    public var remarks: [Remark] = []
    /// The numbers of the packet with their features.
    package var identities: [Identity] = []

    /// Creates an empty report.
    package init() {}

    /// One line per feature type, outcome and reason, with the number of features and their first ids, such as
    /// `changed: 2 units, each: it has no name: it is named after its occupants (…)`.
    public var description: String {
        struct Group: Hashable {
            var featureType: String
            var outcome: Outcome
            var reason: String
        }
        var order: [Group] = []
        var ids: [Group: [String]] = [:]
        for remark in remarks {
            let group = Group(featureType: remark.featureType, outcome: remark.outcome, reason: remark.reason)
            if ids[group] == nil { order.append(group) }
            ids[group, default: []].append(remark.id)
        }
        let shown = 3
        let lines = order.map { group in
            let all = ids[group] ?? []
            let more = all.count > shown ? ", …" : ""
            let outcome = group.outcome == .leftOut ? "left out" : "changed"
            let kind = group.featureType == "archive" ? "file" : group.featureType
            // The text of a reason refers to a single feature.
            let features = all.count == 1 ? "1 \(kind)" : "\(all.count) \(Self.plural(of: kind)), each"
            return "\(outcome): \(features): \(group.reason) (\(all.prefix(shown).joined(separator: ", "))\(more))"
        }
        return lines.map(PrintableText.line).joined(separator: "\n")
    }

    /// Returns the plural of a noun: `levels`, `addresses`, `amenities`, `points of interest`.
    static func plural(of thing: String) -> String {
        let parts = thing.split(separator: " of ", maxSplits: 1)
        guard let head = parts.first else { return thing }
        let rest = parts.dropFirst().map { " of \($0)" }.joined()
        if head.hasSuffix("ss") { return head + "es" + rest }
        return (head.hasSuffix("ty") ? head.dropLast() + "ies" : head + "s") + rest
    }

    /// Returns the report as JSON: `remarks[]` of `featureType`, `id`, `outcome` and `reason`, and `identities[]` of
    /// `kind`, `number`, `featureType` and `id`.
    public func document() -> [UInt8] {
        let remarks = remarks.map { remark in
            JSONTree.object([
                "featureType": .string(remark.featureType), "id": .string(remark.id),
                "outcome": .string(remark.outcome.rawValue), "reason": .string(remark.reason),
            ])
        }
        let identities = identities.map { identity in
            JSONTree.object([
                "kind": .string(identity.kind), "number": .number(Double(identity.number)),
                "featureType": .string(identity.featureType), "id": .string(identity.id),
            ])
        }
        return JSONTree.object(["remarks": .array(remarks), "identities": .array(identities)]).lines()
    }
}
