extension FleetMachine {
    /// The bytes that the machine holds for its tags and waiting readings, without the shared model and the keys.
    ///
    /// The time is linear in the number of tags.
    package var byteCount: Int {
        let records = table.records.capacity * MemoryLayout<TagRecord?>.stride
        let queues =
            pending.elements.capacity * MemoryLayout<PendingReading>.stride
            + due.elements.capacity * MemoryLayout<DueTag>.stride
        return table.records.reduce(records + queues + workspace.byteCount) { sum, record in
            guard let record else { return sum }
            // The record contains the session itself, whose count includes it.
            let session = (record.session?.byteCount).map { $0 - MemoryLayout<TagSession>.stride } ?? 0
            return sum + session + record.heard.capacity * MemoryLayout<TagRecord.Heard>.stride
        }
    }
}
